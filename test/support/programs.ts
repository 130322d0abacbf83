// Searches for programs on the PATH.

import { spawnSync } from 'node:child_process';

/** @returns whether the programs are there, and the end of the titles of tests that are left out without them */
export function findPrograms(...names: readonly string[]) {
  const missing = names.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  return {
    areThere: missing.length === 0,
    note: missing.length === 0 ? '' : ` (left out: there is no ${missing.join(' and no ')} on the PATH)`,
  };
}
