#!/usr/bin/env node
// Starts the command: from its source in a clone, otherwise what was built.

import { existsSync } from 'node:fs';

/** Oldest Node.js that runs the source of a clone: it removes types, and knows `using`. */
const SOURCE_MAJOR = 24;

const source = new URL('../packages/cli/src/main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);
const { node } = process.versions;
const isClone = existsSync(source);
const runsSource = isClone && Number.parseInt(node, 10) >= SOURCE_MAJOR; // What is built in a clone may be older than its source.

try {
  if (isClone && !runsSource && !existsSync(built)) {
    throw new Error(`A clone of Notigraph needs Node.js ${SOURCE_MAJOR}, which "npm ci" installs; this is v${node}. \
Run "npm ci", then "npm start" or "npx notigraph".`);
  }
  await import('./supported-versions.cjs'); // Nothing newer than this file is loaded before the version is known to be new enough.
  await import('./compile-cache.js');
  await import((runsSource ? source : built).href);
} catch ({ message, code }) {
  const isMissing = isClone && code === 'ERR_MODULE_NOT_FOUND';
  process.stderr.write(`${message.split('\n', 1)[0]}${isMissing ? '. Run "npm ci" first.' : ''}\n`);
  process.exitCode = 1;
}
