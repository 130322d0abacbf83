// Runs a build script before the tests, unless the file that it writes is newer than its sources.

import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns when a file, a folder or one of its files was changed last. 0 if there is none. */
function lastChange(path: string): number {
  const stats = statSync(ROOT + path, { throwIfNoEntry: false });
  const names = stats?.isDirectory() ? readdirSync(ROOT + path) : [];
  return Math.max(stats?.mtimeMs ?? 0, ...names.map((name) => lastChange(`${path}/${name}`)));
}

export function buildOutdated(built: string, sources: readonly string[], script: readonly string[]): void {
  if (lastChange(built) <= Math.max(...[...sources, 'package-lock.json'].map(lastChange))) {
    execFileSync(process.execPath, [...script], { cwd: ROOT, stdio: 'inherit' });
  }
}
