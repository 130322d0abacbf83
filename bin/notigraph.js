#!/usr/bin/env node
// Nothing newer than this file is loaded before the version is known to be new enough.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  await import('../dist/main.js');
} else {
  process.stderr.write(`Notigraph needs Node 22.19 or newer; this is v${process.versions.node}.\n`);
  process.exitCode = 1;
}
