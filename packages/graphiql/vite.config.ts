// Bundles the page of GraphiQL and compresses its files, which the gateway serves as they are.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { FILE_PARAMETER } from '../../src/graphiql/page-config.ts';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
};

/** Licenses of the packages in the page, which the package contains as a file. */
const LICENSES = 'third-party-licenses.md';

/** Between the default 11, which takes 4 times as long, and gzip. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Replaces each written file by its compressed forms, and adds the list of files. */
function compress(): Plugin {
  return {
    name: 'compress',
    async writeBundle({ dir = '.' }, bundle) {
      const names = Object.keys(bundle).filter((name) => name !== LICENSES);
      const types = Object.fromEntries(names.map((name) => [name, typeOf(name)]));
      const [script] = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.fileName : []));
      const style = names.find((name) => name.endsWith('.css'));
      for (const name of names) {
        const file = join(dir, name);
        const content = await readFile(file);
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content, BROTLI));
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
        await rm(file);
      }
      await writeFile(join(dir, 'manifest.json'), JSON.stringify({ script, style, types }, null, 2));
    },
  };
}

function typeOf(name: string): string {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) {
    throw new Error(`The media type of ${name} is unknown.`);
  }
  return type;
}

const names = {
  codeSplitting: false, // A chunk's relative import of another would not reach the endpoint.
  entryFileNames: '[name]-[hash].js',
  assetFileNames: '[name]-[hash][extname]',
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'error', // Warnings are about directives for React servers in packages, and about the size of the editor.
  plugins: [compress()],
  experimental: { renderBuiltUrl: (name) => `?${FILE_PARAMETER}=${name}` },
  worker: { format: 'iife', rolldownOptions: { output: names } },
  build: {
    outDir: fileURLToPath(new URL('../../dist/graphiql', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    license: { fileName: LICENSES },
    modulePreload: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('src/main.tsx', import.meta.url)),
      output: { ...names, keepNames: true },
    }, // Icons have titles after their functions.
  },
});
