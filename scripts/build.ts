// Bundles the library and the command for the package, and prints the schema of the subgraph into it.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown, type SSROptions } from 'vite';
import manifest from '../package.json' with { type: 'json' };
import { createSchema, printSdl } from '../src/modules/schema.ts';

interface Bundle {
  folder: string;
  /** Whether the folder is emptied first. @default true */
  empties?: boolean;
  entries: Record<string, string>;
  /** Format of the modules. CommonJS is in files `.cjs`. @default 'es' */
  format?: 'es' | 'cjs';
  /** Packages that become part of the bundle. */
  packages: SSROptions;
  /** Compression of the code. @default false */
  minify?: Rolldown.OutputOptions['minify'];
  /** Files of other bundles, by the imports that they replace. @default none */
  built?: Readonly<Record<string, string>>;
}

/** Smaller, but names stay, because they appear in stack traces. */
const MINIFY = { compress: true, mangle: false, codegen: true } as const;

/** Packages that the library imports, so that a host's plugins and the gateway share one copy of graphql and Yoga. */
const DEPENDENCIES = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];

function buildBundle({ folder, empties = true, entries, format = 'es', packages, minify = false, built = {} }: Bundle) {
  const extension = format === 'cjs' ? 'cjs' : 'js';
  return build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    logLevel: 'warn',
    ssr: packages,
    plugins: [
      {
        name: 'built',
        enforce: 'pre',
        resolveId: (source) => (built[source] === undefined ? null : { id: built[source], external: 'relative' }),
      },
    ],
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: empties,
      target: 'es2024', // The oldest supported Node.js has no `using`.
      license: format === 'es' && { fileName: 'third-party-licenses.md' }, // The others contain no packages.
      rolldownOptions: {
        input: entries,
        preserveEntrySignatures: 'strict', // Other chunks don't import from the entries.
        output: {
          format,
          entryFileNames: `[name].${extension}`,
          // The client runs in browsers, so its folder contains all of it.
          chunkFileNames: ({ moduleIds }) =>
            moduleIds.every((id) => /[\\/]packages[\\/]client[\\/]/.test(id))
              ? `client/[name]-[hash].${extension}`
              : `[name]-[hash].${extension}`,
          minify,
        },
      },
    },
  });
}

/** Bundles by name, in the order in which they are built. */
const BUNDLES: Readonly<Record<string, Bundle>> = {
  // Contains the packages that aren't dependencies, because they take up several times their size when installed.
  library: {
    folder: 'dist/library',
    entries: {
      index: 'src/index.ts',
      'client/index': 'packages/client/src/index.ts',
      'testing/msw/index': 'packages/testing/src/msw/index.ts',
      'modules/index': 'src/modules/index.ts',
      'modules/events': 'src/modules/shipped/events.ts',
      'modules/inbox': 'src/modules/shipped/inbox.ts',
      'modules/messages': 'src/modules/shipped/messages.ts',
      'modules/subscribers': 'src/modules/shipped/subscribers.ts',
      'modules/topics': 'src/modules/shipped/topics.ts',
      'modules/workflows': 'src/modules/shipped/workflows.ts',
    },
    packages: { noExternal: true, external: DEPENDENCIES },
  },
  // What tests of apps import, also those of runners that load only CommonJS.
  commonjs: {
    folder: 'dist/library',
    empties: false,
    entries: {
      'client/index': 'packages/client/src/index.ts',
      'testing/msw/index': 'packages/testing/src/msw/index.ts',
    },
    format: 'cjs',
    packages: { noExternal: true, external: DEPENDENCIES },
  },
  // The same of the client's own package, which the compiler has built before.
  client: {
    folder: 'packages/client/dist',
    empties: false,
    entries: { index: 'packages/client/src/index.ts' },
    format: 'cjs',
    packages: { noExternal: true },
  },
  // A bundle of its own, so that the files above stay as small. It contains the sandbox.
  testing: {
    folder: 'dist/library/testing',
    empties: false,
    entries: { index: 'packages/testing/src/index.ts' },
    packages: { noExternal: true, external: DEPENDENCIES },
    minify: MINIFY,
    built: { '../../../src/gateway.ts': '../index.js', '../../client/src/index.ts': '../client/index.js' },
  },
  // Contains its packages, which halves the time to start. Users choose the versions of the peers, and with their SDK that of OpenTelemetry's
  // interface: a newer version here would ignore the SDK. graphql must exist only once.
  command: {
    folder: 'dist/cli',
    entries: { main: 'packages/cli/src/main.ts', modules: 'src/modules/index.ts' }, // Modules of users import the latter.
    packages: { noExternal: true, external: ['@opentelemetry/api', ...Object.keys(manifest.peerDependencies)] },
    minify: MINIFY,
  },
};

// `node scripts/build.ts command` builds only that of the command.
const names = process.argv.slice(2);
for (const [name, bundle] of Object.entries(BUNDLES)) {
  if (names.length === 0 ? name !== 'client' : names.includes(name)) {
    await buildBundle(bundle);
  }
}
if (names.length === 0) {
  writeFileSync(new URL('../schema/subgraph.graphql', import.meta.url), printSdl(createSchema(), true));
}
