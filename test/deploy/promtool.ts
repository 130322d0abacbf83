// Runs Prometheus' promtool.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/docs.ts';
import { findPrograms } from '../support/programs.ts';

/** Whether it is installed, and what ends the titles of tests that are left out without it. */
export const { areThere: hasPromtool, note: promtoolOnly } = findPrograms('promtool');

/** Runs it beside the configuration of Prometheus. Returns its output if it finds a problem, otherwise an empty text. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    cwd: join(ROOT, 'deploy/prometheus'),
    encoding: 'utf8',
  });
  return status === 0 ? '' : `exit code ${status}: ${stdout}${stderr}`;
}
