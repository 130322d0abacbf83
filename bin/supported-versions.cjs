// Refuses versions and options of Node.js and versions of graphql that are not supported, and bundles.

'use strict';

// Every version of Node.js must be able to run this file, so it uses only old syntax. Tests compare the versions with package.json.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `Notigraph requires Node.js 22.19 or later; this is v${process.versions.node}. ` +
      'Run "npm install node@24" in your project, or get it from https://nodejs.org.',
  );
}

// Node.js has none with --jitless. undici, which calls the service, parses responses with it.
if (typeof WebAssembly === 'undefined') {
  throw new Error(
    'Notigraph requires WebAssembly, which this Node.js does not have. Remove its option --jitless, also from NODE_OPTIONS.',
  );
}

// In a bundle, this file has another name or none. What it lacks is read later, such as GraphiQL's page.
if (typeof __filename === 'undefined' || !/supported-versions\.cjs$/.test(__filename)) {
  throw new Error(
    'Notigraph was bundled, but it reads files of its package. Keep notigraph external: with esbuild, --external:notigraph; ' +
      'with Next.js, serverExternalPackages: ["notigraph"].',
  );
}

const { createRequire } = require('node:module');

/** Returns the folder and version of the copy of graphql that is used from a file. Undefined if a bundler has replaced it. */
function findGraphql(from) {
  try {
    const [, folder] = /^(.*[\\/]graphql)[\\/]/.exec(from.resolve('graphql'));
    return { folder, version: require(`${folder}/package.json`).version };
  } catch {
    return undefined;
  }
}

const own = findGraphql(require);
if (own !== undefined) {
  const [graphqlMajor, graphqlMinor] = own.version.split('.').map(Number);
  if (!((graphqlMajor === 16 && graphqlMinor >= 12) || graphqlMajor === 17)) {
    throw new Error(
      `Notigraph requires graphql 16.12 or later, or 17; ${own.folder} is ${own.version}. Run "npm install graphql@17" in your project.`,
    );
  }
  // Types of one copy are none to another.
  for (const name of ['@pothos/core', 'graphql-yoga']) {
    let other;
    try {
      other = findGraphql(createRequire(require.resolve(name)));
    } catch {} // It is in the bundle of the command.
    if (other !== undefined && other.folder !== own.folder) {
      throw new Error(
        `Notigraph and ${name} use two copies of graphql: ${own.folder} (${own.version}) and ${other.folder} (${other.version}). ` +
          'Make your project depend on one version, with "npm install graphql@17" and then "npm dedupe".',
      );
    }
  }
}
