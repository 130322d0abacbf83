import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Where a run took place. */
export interface Machine {
  cpu: string;
  cores: number;
  /** In bytes. */
  memory: number;
  kernel: string;
  node: string;
}

/** What was measured. */
export interface Revision {
  commit: string;
  /** Whether the product's code differs from that commit's. */
  changed: boolean;
}

export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memory: totalmem(),
  kernel: release(),
  node: process.version,
});

export function describeRevision(): Revision {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' }).trim();
  try {
    return {
      commit: git('rev-parse', '--short', 'HEAD'),
      changed: git('status', '--porcelain', '--', 'src', 'package-lock.json') !== '',
    };
  } catch {
    return { commit: 'unknown', changed: false }; // An unpacked copy, or no git.
  }
}
