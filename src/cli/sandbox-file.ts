import { assertRegularFile, FileError } from '../lib/files/text-file.ts';

/** Returns why a path can't be the sandbox's file; undefined if it is a file or doesn't exist yet. */
export function findSandboxFileProblem(path: string): string | undefined {
  try {
    if (path !== ':memory:') {
      assertRegularFile(path);
    }
    return undefined;
  } catch (error) {
    if (error instanceof FileError) {
      return error.isMissing ? undefined : `the file ${path} ${error.message}`;
    }
    throw error;
  }
}
