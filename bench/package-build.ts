import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Builds the package's code in `dist/`, so that `PACKAGED` runs the current source. */
export function buildPackage(report: (line: string) => void): void {
  report('Building the package');
  execFileSync(process.execPath, ['build.ts'], { cwd: ROOT, stdio: 'inherit' });
}
