// Prints the progress of a run, reads messages of errors, and builds the package.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts measuring the elapsed time. @returns a function that prints a line with it, and one that returns it in minutes */
export function createProgress() {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  return {
    report: (line: string) => process.stdout.write(`${seconds().toFixed(0).padStart(5)} s  ${line}\n`),
    minutes: () => Math.round(seconds() / 6) / 10,
  };
}

/** Returns the message of an error, or another thrown value as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Builds the package's code in `dist/`, so that `PACKAGED` runs the current source. */
export function buildPackage(report: (line: string) => void): void {
  report('Building the package');
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'inherit' });
}
