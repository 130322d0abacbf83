import { type Stats, statSync } from 'node:fs';
import { caught } from '../lib/caught.ts';
import { assertRegularFile, FileError } from '../lib/files/text-file.ts';

/** Returns why a path can't be the sandbox's file; undefined if it is a file or doesn't exist yet. */
export const findSandboxFileProblem = (path: string): string | undefined =>
  path === ':memory:' ? undefined : findFileProblem(path);

/**
 * Returns why a path can't be a file that is written; undefined if it is one or doesn't exist yet.
 *
 * @param stat `lstatSync` rejects symbolic links
 */
export function findFileProblem(path: string, stat: (path: string) => Stats = statSync): string | undefined {
  const error = caught(FileError, () => assertRegularFile(path, stat));
  return error === undefined || error.isMissing ? undefined : `the file ${path} ${error.message}`;
}
