// Installs the last release into an empty folder, as its users have it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ofFile } from '../support/lifetime.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

/** The last release, and its commit in case the history has no tags. */
const TAG = 'v1.0.0';
const COMMIT = '02b2383a7fa89a4249dcdd48f0435fb197a90cb8';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Installs the last release with the packages that its users add, for all tests of the file that calls it.
 *
 * It is built from the repository's history. `NOTIGRAPH_TEST_RELEASE` can name its tarball instead.
 *
 * @returns the command's program, and the path of a file of the package
 */
export async function installLastRelease() {
  const folder = ofFile(await createTemporaryFolder());
  const app = folder.path('app');
  mkdirSync(app);
  writeFileSync(folder.path('app', 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const tarball = process.env.NOTIGRAPH_TEST_RELEASE ?? packLastRelease(folder.path('checkout'));
  run(app, 'npm', 'install', '--no-audit', '--no-fund', '--silent', tarball, 'graphql@16', '@redis/client@6');
  const pathOf = (...names: string[]) => folder.path('app', 'node_modules', 'notigraph', ...names);
  return { main: pathOf('bin', 'notigraph.js'), pathOf };
}

/** Packs the last release in a copy of its files, with the tools of this checkout. Returns the path of the tarball. */
function packLastRelease(checkout: string): string {
  const [tag] = run(ROOT, 'git', 'tag', '--list', TAG).split('\n');
  mkdirSync(checkout);
  execFileSync('tar', ['-x'], {
    cwd: checkout,
    input: execFileSync('git', ['archive', tag || COMMIT], { cwd: ROOT, maxBuffer: 2 ** 28 }),
  });
  symlinkSync(`${ROOT}node_modules`, `${checkout}/node_modules`);
  run(checkout, process.execPath, 'packages/graphiql/build.js');
  run(checkout, process.execPath, 'scripts/build.ts');
  return `${checkout}/${run(checkout, 'npm', 'pack', '--silent', '--ignore-scripts').trim()}`;
}

const run = (cwd: string, program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
