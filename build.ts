import { fileURLToPath } from 'node:url';
import { build, type Rolldown, type SSROptions } from 'vite';
import manifest from './package.json' with { type: 'json' };

/** Bundle for Node.js. */
interface Bundle {
  /** Folder of the bundle, which is emptied first. */
  folder: string;
  /** Entry files by name. */
  entries: Record<string, string>;
  /** Packages that become part of the bundle. */
  packages: SSROptions;
  /** Compression of the code. @default false */
  minify?: Rolldown.OutputOptions['minify'];
}

/** Formats the metrics. Bundled, because it takes up several times its size when installed. */
const METRICS = ['prom-client', 'tdigest', 'bintrees', '@opentelemetry/api'];

/** Builds a bundle. */
const buildBundle = ({ folder, entries, packages, minify = false }: Bundle) =>
  build({
    configFile: false,
    root: fileURLToPath(new URL('.', import.meta.url)),
    logLevel: 'warn',
    ssr: packages,
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: 'es2024', // The oldest supported Node.js has no `using`.
      license: { fileName: 'third-party-licenses.md' },
      rolldownOptions: {
        input: entries,
        preserveEntrySignatures: 'strict', // Other chunks don't import from the entries.
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          minify,
        },
      },
    },
  });

// Imports its packages, so that a host's plugins and the gateway share one copy of graphql and Yoga.
await buildBundle({
  folder: 'dist/library',
  entries: { index: 'src/index.ts', 'client/index': 'src/client/index.ts' },
  packages: { noExternal: METRICS },
});

// Contains its packages, which halves the time to start. Users choose the versions of the peers; graphql must exist only once.
await buildBundle({
  folder: 'dist/cli',
  entries: { main: 'src/cli/main.ts' },
  packages: { noExternal: true, external: ['graphql', ...Object.keys(manifest.peerDependencies)] },
  minify: { compress: true, mangle: false, codegen: true }, // Names stay, because they appear in stack traces.
});
