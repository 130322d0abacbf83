// Reads text files and folders, and explains why one can't be read.

import { closeSync, constants, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import { errorCodeOf } from '../lib/caught.ts';

/** Reason why a file can't be read. The message is a clause that follows the file's name. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly isMissing: boolean;

  constructor(message: string, { isMissing = false, ...options }: ErrorOptions & { isMissing?: boolean } = {}) {
    super(message, options);
    this.isMissing = isMissing;
  }
}

const CHUNK_BYTES = 64 * 1024;

/** Opens a file without waiting for the other end of a pipe. Windows has neither. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a text file that must be a regular file, because reading a pipe or a device may take forever.
 *
 * @throws {FileError} if it can't be read or has more than `maxBytes`
 */
export function readTextFile(path: string, maxBytes: number): string {
  return orFileError(() => {
    assertRegularFile(path);
    const file = openSync(path, READ_WITHOUT_WAITING);
    try {
      return withoutByteOrderMark(readAll(file, maxBytes).toString('utf8'));
    } finally {
      closeSync(file);
    }
  });
}

/** Returns a text without the mark with which some programs begin UTF-8 (U+FEFF), and which JSON doesn't allow. */
export const withoutByteOrderMark = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

/** Reads an open file, whatever size it claims to have. */
function readAll(file: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readSync(file, chunk);
    if (read === 0) {
      return Buffer.concat(chunks);
    }
    size += read;
    if (size > maxBytes) {
      throw new FileError(`is larger than ${maxBytes / 1024} KiB`);
    }
    chunks.push(chunk.subarray(0, read));
  }
}

/**
 * Checks that a path leads to a regular file.
 *
 * @param stat `lstatSync` rejects symbolic links
 * @throws {FileError} otherwise
 */
export function assertRegularFile(path: string, stat: (path: string) => Stats = statSync): void {
  const stats = orFileError(() => stat(path));
  if (!stats.isFile()) {
    throw new FileError(`is ${kindOf(stats)}, not a regular file`);
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) {
    return 'a directory';
  }
  if (stats.isFIFO()) {
    return 'a pipe';
  }
  if (stats.isSymbolicLink()) {
    return 'a symbolic link';
  }
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Converts a failure to open or read a file to the reason. */
export function toFileError(error: unknown): FileError {
  if (error instanceof FileError) {
    return error;
  }
  const code = errorCodeOf(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new FileError("doesn't exist", { cause: error, isMissing: true });
    case 'EACCES':
    case 'EPERM':
      return new FileError("can't be read: permission denied", { cause: error });
    case 'ELOOP':
      return new FileError('is a symbolic link that leads back to itself', { cause: error });
    default:
      return new FileError(`can't be read (${code ?? error})`, { cause: error });
  }
}

/** Runs a function. What it throws becomes the reason why a file can't be read. */
function orFileError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw toFileError(error);
  }
}

export const fingerprintOf = (files: readonly string[]): string => files.map(fileFingerprint).join('\n');

/**
 * Returns a string that changes with the file, and when a link points to another file. It has the time of the last change too, which
 * programs can't set: a rewrite may keep the size and restore the time of modification. An unreadable file has one too, with the reason.
 */
function fileFingerprint(file: string): string {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(file, { bigint: true });
    return `${file} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return `${file} ${errorCodeOf(error) ?? error}`;
  }
}

/**
 * Returns whether a path leads to a folder.
 *
 * @throws {FileError} if it leads nowhere
 */
export const isFolder = (path: string): boolean => orFileError(() => statSync(path).isDirectory());

/**
 * Returns the names in a folder.
 *
 * @throws {FileError} if it can't be read
 */
export const readFolder = (path: string): string[] => orFileError(() => readdirSync(path));
