import { spawnSync } from 'node:child_process';

/** Result of a search for programs that tests need. */
export interface FoundPrograms {
  areThere: boolean;
  /** Ends the titles of tests that are left out without them. */
  note: string;
}

/** Searches for programs on the PATH. */
export function findPrograms(...names: readonly string[]): FoundPrograms {
  const missing = names.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  return {
    areThere: missing.length === 0,
    note: missing.length === 0 ? '' : ` (left out: there is no ${missing.join(' and no ')} on the PATH)`,
  };
}
