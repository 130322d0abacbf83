#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);

// Nothing newer than this file is loaded before the version is known to be new enough.
const unsupported = await import('./supported-node.cjs').then(
  () => undefined,
  ({ message }) => message,
);
if (unsupported !== undefined) {
  process.stderr.write(`${unsupported}\n`);
  process.exitCode = 1;
} else if (existsSync(main)) {
  await import('./compile-cache.js');
  await import(main.href);
} else {
  process.stderr.write('Notigraph is not built here: run "npm run build" first.\n');
  process.exitCode = 1;
}
