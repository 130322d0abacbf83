import { ConfigError } from '../config/problem.ts';
import type { CheckedFile } from './check-rows.ts';
import type { EarlierRun } from './earlier-run.ts';
import { formatCount } from './format.ts';
import type { ImportOptions } from './options.ts';

/** Whether an earlier run has rows left. */
export const isUnfinished = ({ run, applied }: EarlierRun): boolean => applied.size < run.rows;

/**
 * Decides whether an earlier run is resumed.
 *
 * @param service address of the service
 * @returns the run to resume; undefined to begin a new one
 * @throws {ConfigError} if the earlier run is unfinished, but can't be resumed with this file or service
 */
export function findRunToResume(
  earlier: EarlierRun | undefined,
  { digest }: Pick<CheckedFile, 'digest'>,
  service: string,
  { path, results, restarts }: Pick<ImportOptions, 'path' | 'results' | 'restarts'>,
): EarlierRun | undefined {
  if (earlier === undefined || restarts) {
    return undefined;
  }
  const { run, applied } = earlier;
  const isChanged = run.digest !== digest;
  if (isChanged && !isUnfinished(earlier)) {
    return undefined; // A file that is written anew every night.
  }
  if (isChanged) {
    throw new ConfigError([
      `${path} has changed since its last import, which applied ${formatCount(applied.size)} of ${formatCount(run.rows)} rows. Restore that file to resume, import corrected rows from a file of their own, or send all rows of this one with --restart.`,
    ]);
  }
  if (run.service !== service) {
    throw new ConfigError([
      `${results} has the results of another service, ${run.service}. Name another file with --results.`,
    ]);
  }
  return earlier;
}

/** @throws {ConfigError} if the API key belongs to another environment than that of the earlier rows */
export function assertSameEnvironment(
  { run }: EarlierRun,
  environmentId: string | undefined,
  { results }: Pick<ImportOptions, 'results'>,
): void {
  if (run.environmentId !== undefined && environmentId !== undefined && run.environmentId !== environmentId) {
    throw new ConfigError([
      `${results} has the results of another environment, ${run.environmentId}. This API key belongs to ${environmentId}. Name another file with --results.`,
    ]);
  }
}
