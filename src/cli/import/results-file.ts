import { closeSync, constants, fchmodSync, fsyncSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { errorCodeOf } from '../../lib/error-code.ts';
import { ImportError } from './import-error.ts';

/** File to which results are appended. A line is in the operating system's hands when `write` returns, so that killing the process loses none. */
export interface ResultsFile extends Disposable {
  /** Whether no result of a row was written, in this session or an earlier one. It is then removed at the end, so that it isn't resumed. */
  readonly isEmpty: boolean;
  /** @throws {ImportError} if the disk is full, or the like */
  write(line: object): void;
}

/** Lines between two flushes to the disk, for power failures. A line that is lost causes one repeated call with the same idempotency key. */
const LINES_PER_FLUSH = 1_000;

/** Only the owner may read whose data was imported. */
const MODE = 0o600;

/** Appends, and doesn't follow a symbolic link, which could lead to any file of the user. Windows has no such flag. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens a results file.
 *
 * @param keep bytes to keep; what follows is removed. 0 begins a new file
 * @throws {ImportError} if it can't be written
 */
export function openResults(path: string, keep: number): ResultsFile {
  const file = attempt(path, () => openSync(path, APPEND, MODE));
  restrict(file);
  let lines = 0;
  attempt(path, () => ftruncateSync(file, keep));
  return {
    get isEmpty() {
      return keep === 0 && lines <= 1;
    },
    write(line) {
      lines += 1; // Also if it can't be written: its row may be applied.
      attempt(path, () => {
        writeSync(file, `${JSON.stringify(line)}\n`);
        if (lines % LINES_PER_FLUSH === 1) {
          fsyncSync(file); // Begins with the first line, without which no row can be resumed.
        }
      });
    },
    [Symbol.dispose]() {
      attempt(path, () => fsyncSync(file));
      closeSync(file);
      if (this.isEmpty) {
        attempt(path, () => rmSync(path, { force: true }));
      }
    },
  };
}

/** Restricts a file of an earlier version to its owner. */
function restrict(file: number): void {
  try {
    fchmodSync(file, MODE);
  } catch {
    // Some file systems, such as FAT, have no modes.
  }
}

/** Does something with a results file. @throws {ImportError} if it fails */
export function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ImportError(
      `The results file ${path} can't be written: ${reasonOf(error)}. Fix this and run the same command again, or name another file with --results.`,
    );
  }
}

/** Returns the reason of a failure without its code and path: `no space left on device` for `ENOSPC: no space left on device, write`. */
function reasonOf(error: unknown): string {
  if (errorCodeOf(error) === 'ELOOP') {
    return 'it is a symbolic link';
  }
  const { message } = error instanceof Error ? error : { message: String(error) };
  return /^E\w+: ([^,]+)/.exec(message)?.[1] ?? message;
}
