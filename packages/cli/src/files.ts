// Checks paths before the command writes files.

import { lstatSync, type Stats } from 'node:fs';
import { assertRegularFile, FileError } from '../../../src/files/text-file.ts';
import { caught, orUndefined } from '../../../src/lib/caught.ts';

/** Whether something is at a path, also a symbolic link that leads nowhere. */
export const isTaken = (path: string): boolean => orUndefined(() => lstatSync(path)) !== undefined;

/**
 * Returns why a path can't be a file that is written, as a clause; undefined if it is one or doesn't exist yet.
 *
 * @param stat `lstatSync` rejects symbolic links
 */
export function findFileProblem(path: string, stat?: (path: string) => Stats): string | undefined {
  const error = caught(FileError, () => assertRegularFile(path, stat));
  return error === undefined || error.isMissing ? undefined : `the file ${path} ${error.message}`;
}
