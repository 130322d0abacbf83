'use strict';

// Every version of Node.js must be able to run this file, so it uses only old syntax. A test compares the version with package.json.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `Notigraph requires Node.js 22.19 or later; this is v${process.versions.node}. ` +
      'Run "npm install node@24" in your project, or get it from https://nodejs.org.',
  );
}
