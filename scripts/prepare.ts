// Builds what npm packs or a checkout needs, at npm's events `prepare` and `postpack`.

import { execSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

// npm runs this file for its events `prepare` and `postpack`.
const { npm_command: command, npm_lifecycle_event: event, npm_package_resolved: resolved } = process.env;

const MANIFEST = 'package.json';

/** Copy of the manifest while its scripts are removed. Neither git nor the package contains it. */
const COPY = 'dist/.cache/package.json';

/** Removes the scripts from the manifest that is packed. They don't work in the package, and npm asks whether those of packages may run. */
function removeScripts(): void {
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  mkdirSync('dist/.cache', { recursive: true });
  renameSync(MANIFEST, COPY);
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}

if (event === 'postpack') {
  if (existsSync(COPY)) {
    renameSync(COPY, MANIFEST);
  }
} else if (resolved === undefined) {
  // The dependencies of the checkout are installed. It runs from source and needs only GraphiQL's page.
  execSync('npm run build:graphiql', { stdio: 'inherit' });
} else if (command !== 'exec') {
  execSync('npm run build', { stdio: 'inherit' }); // Not for `npx notigraph` in the checkout, which runs from source.
  if (resolved !== 'null') {
    removeScripts(); // In `npm pack`, `npm publish` and installations from git. `null`: another project links to the checkout.
  }
}
