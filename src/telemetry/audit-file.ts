import { accessSync, closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCodeOf } from '../lib/error-code.ts';
import { pauseSync } from '../lib/pause-sync.ts';

/** Destination of an audit log. */
export interface AuditFile extends Disposable {
  /** Writes a line in one piece. Throws if it is not written completely. */
  write(line: string): void;
}

/** An audit log that can't be opened. The message is a clause for the operator. */
export class AuditError extends Error {
  override readonly name = 'AuditError';
}

/** Only the owner may read who changed what. */
const MODE = 0o600;

/** File descriptor of standard output. */
const STDOUT = 1;

/** Duration of a wait for a slow reader, in milliseconds, and maximum number of waits per line. */
const WAIT_MS = 1;
const MAX_WAITS = 50;

/**
 * Opens the destination. A file is only appended to, so that several processes can share it, and opened again when it was renamed or
 * removed.
 *
 * @throws {AuditError} if it can't be opened
 */
export function openAuditFile(to: 'stdout' | { file: string }): AuditFile {
  if (to === 'stdout') {
    return { write: (line) => writeLine(STDOUT, line), [Symbol.dispose]() {} };
  }
  const { file: path } = to;
  let file = open(path);
  let isTorn = false;

  return {
    write(line) {
      if (!isAt(path, file)) {
        const next = open(path);
        closeSync(file);
        file = next;
        isTorn = false;
      }
      const text = isTorn ? `\n${line}` : line;
      isTorn = true; // A line of which only a part fits on the disk must not swallow the next one.
      writeLine(file, text);
      isTorn = false;
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

/** Returns why a file can't be opened, as a clause; undefined if it can. The file is not created. */
export function findAuditProblem(path: string): string | undefined {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (isThere) {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK));
    } else {
      accessSync(dirname(path), constants.W_OK | constants.X_OK);
    }
    return undefined;
  } catch (error) {
    return toAuditError(path, error).message;
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'a', MODE);
  } catch (error) {
    throw toAuditError(path, error);
  }
}

function toAuditError(path: string, cause: unknown): AuditError {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : cause;
  return new AuditError(`the audit log ${path} can't be opened (${code})`, { cause });
}

/** Whether a path still leads to an open file. */
function isAt(path: string, file: number): boolean {
  const { ino, dev } = fstatSync(file);
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.ino === ino && found.dev === dev;
}

/** Writes with one call, which other processes' lines can't interrupt. */
function writeLine(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let waits = 0; ; waits += 1) {
    try {
      if (writeSync(file, bytes) < bytes.length) {
        throw new AuditError('only a part of a line was written');
      }
      return;
    } catch (error) {
      if (waits === MAX_WAITS || errorCodeOf(error) !== 'EAGAIN') {
        throw error;
      }
      pauseSync(WAIT_MS); // Standard output can be a pipe that is full.
    }
  }
}
