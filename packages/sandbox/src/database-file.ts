import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SandboxError } from './errors.ts';
import { integer } from './rows.ts';

// Checks of the sandbox's files, and descriptions of their problems.

/** Identifies a file of this application (SQLite's `application_id`): the four letters NTGR. */
export const APPLICATION_ID = 0x4e_54_47_52;

/** Maximum time that a write waits for another process's write lock, for example while that one creates the tables. */
export const BUSY_TIMEOUT_MS = 5000;

/** Returns the number that identifies a schema in files (SQLite's `user_version`). It follows from the text, so any change of the schema changes it. */
export const versionOf = (schema: string): number => createHash('sha256').update(schema).digest().readUInt32BE() >>> 1;

/**
 * Returns whether a file is new.
 *
 * @throws {SandboxError} if another application or another version of Notigraph wrote it
 */
export function isNew(connection: DatabaseSync, file: string, schema: string): boolean {
  const version = readPragma(connection, 'user_version');
  const applicationId = readPragma(connection, 'application_id');
  const tables = integer(connection.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() ?? {}, 'tables');
  if (version === 0 && applicationId === 0 && tables === 0) {
    return true;
  }
  if (applicationId !== APPLICATION_ID) {
    throw new SandboxError('SANDBOX_DATABASE', `${file} belongs to another application. Use another file.`);
  }
  if (version !== versionOf(schema)) {
    throw new SandboxError(
      'SANDBOX_DATABASE',
      `${file} was written by another version of Notigraph. To replace its records with the sample records, run: notigraph sandbox reset ${file}`,
    );
  }
  return false;
}

const readPragma = (connection: DatabaseSync, name: string): number =>
  integer(connection.prepare(`PRAGMA ${name}`).get() ?? {}, name);

/**
 * Checks that a sandbox could open a file, without opening it for writing. A file that doesn't exist is created by the sandbox.
 *
 * @throws {SandboxError} otherwise
 */
export function assertUsable(file: string, schema: string): void {
  if (file === ':memory:' || !existsSync(file)) {
    return;
  }
  try {
    // "immutable" keeps SQLite from creating files beside it.
    using connection = new DatabaseSync(new URL('?immutable=1', pathToFileURL(file)), { readOnly: true });
    isNew(connection, file, schema);
  } catch (error) {
    throw describeFailure(error, file);
  }
}

/**
 * Checks that a file is the database of a sandbox.
 *
 * @throws {SandboxError} otherwise; also if the file doesn't exist or is empty. It is left unchanged
 */
export function assertSandboxFile(file: string): void {
  if (!existsSync(file)) {
    throw new SandboxError('SANDBOX_DATABASE', `${file} doesn't exist.`);
  }
  try {
    using connection = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (readPragma(connection, 'application_id') !== APPLICATION_ID) {
      throw new SandboxError('SANDBOX_DATABASE', `${file} is not the database of a sandbox. It was not changed.`);
    }
  } catch (error) {
    throw describeFailure(error, file);
  }
}

/** SQLite's primary result codes that describe a problem with the file. Any other code is a bug. */
const FILE_FAILURES = new Map([
  [5, 'is locked by another program'],
  [8, 'is not writable'],
  [10, "can't be read or written"],
  [11, 'is damaged'],
  [13, "can't grow because the disk is full"],
  [14, "can't be opened"],
  [26, 'is not a SQLite database'],
]);

/** Returns the problem of the file that caused an error of SQLite, as a clause, or undefined if the file didn't cause it. */
export function fileFailureOf(error: unknown): string | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? FILE_FAILURES.get(error.errcode & 0xff)
    : undefined;
}

/** Returns the failure as a `SandboxError` if its cause is the file or its folder, or else the error itself. */
export function describeFailure(error: unknown, file: string): unknown {
  const failure = fileFailureOf(error);
  if (failure !== undefined) {
    return new SandboxError('SANDBOX_DATABASE', `${file} ${failure}.`, { cause: error });
  }
  if (error instanceof Error && 'syscall' in error) {
    const message = `The folder of ${file} can't be created (${error.message}).`;
    return new SandboxError('SANDBOX_DATABASE', message, { cause: error });
  }
  return error;
}
