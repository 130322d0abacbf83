#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);

// Nothing newer than this file is loaded before the version is known to be new enough.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`Notigraph needs Node 22.19 or newer; this is v${process.versions.node}.\n`);
  process.exitCode = 1;
} else if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('Notigraph is not built here: run "npm run build" first.\n');
  process.exitCode = 1;
}
