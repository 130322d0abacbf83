import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Machine on which the benchmark ran. */
export interface Machine {
  cpu: string;
  cores: number;
  /** Total memory in bytes. */
  memory: number;
  kernel: string;
  node: string;
}

/** Version of the code that was measured. */
export interface Revision {
  commit: string;
  /** Whether `src` or the dependencies differ from the commit's. */
  changed: boolean;
}

/** Returns a description of this machine. */
export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memory: totalmem(),
  kernel: release(),
  node: process.version,
});

/** Returns the checked-out revision. */
export function describeRevision(): Revision {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' }).trim();
  try {
    return {
      commit: git('rev-parse', '--short', 'HEAD'),
      changed: git('status', '--porcelain', '--', 'src', 'package-lock.json') !== '',
    };
  } catch {
    return { commit: 'unknown', changed: false }; // Not a git checkout, or git is not installed.
  }
}
