import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns when a file, or one in a folder, was changed last. 0 if there is none. */
function lastChange(path: string): number {
  const stats = statSync(ROOT + path, { throwIfNoEntry: false });
  const names = stats?.isDirectory() ? readdirSync(ROOT + path) : [];
  return Math.max(stats?.mtimeMs ?? 0, ...names.map((name) => lastChange(`${path}/${name}`)));
}

/** Builds the program that tests start in processes of their own, unless it is newer than its sources. It starts in half the time of the source. */
export default function buildCommand(): void {
  const sources = Math.max(...['src', 'build.ts', 'package-lock.json'].map(lastChange));
  if (lastChange('dist/cli/main.js') <= sources) {
    execFileSync(process.execPath, ['build.ts', 'command'], { cwd: ROOT, stdio: 'inherit' });
  }
}
