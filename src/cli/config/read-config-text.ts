import { FileError, readTextFile } from '../../lib/files/text-file.ts';

/**
 * Returns a file's text, or undefined if it doesn't exist.
 *
 * @throws {FileError} if it can't be read
 */
export type ReadFile = (path: string) => string | undefined;

/** Maximum size of a configuration file, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Reads configuration files. */
export const readConfigText: ReadFile = (path) => {
  try {
    return readTextFile(path, MAX_BYTES);
  } catch (error) {
    if (error instanceof FileError && error.isMissing) {
      return undefined;
    }
    throw error;
  }
};
