import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SandboxError } from './errors.ts';
import { integer } from './rows.ts';

// Checks of the sandbox's files, and descriptions of their problems.

/** One step from an older database file to the current one. Published migrations never change. */
export interface Migration {
  /** Version of the file after this step, stored as SQLite's `user_version`. A new migration takes the next free number. */
  version: number;
  /** One sentence, shown if the step fails. */
  description: string;
  sql: string;
}

/** Identifies a file of this application (SQLite's `application_id`): the four letters NTGR. */
export const APPLICATION_ID = 0x4e_54_47_52;

/** Maximum time that a write waits for another process's write lock, for example during an upgrade of the file. */
export const BUSY_TIMEOUT_MS = 5000;

/**
 * Returns the version of a file; 0 for a new file.
 *
 * @throws {SandboxError} if the file belongs to another application or a later version
 */
export function readVersion(connection: DatabaseSync, file: string, supported: number): number {
  const pragma = (name: string) => integer(connection.prepare(`PRAGMA ${name}`).get() ?? {}, name);
  const version = pragma('user_version');
  const applicationId = pragma('application_id');
  const tables = integer(connection.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() ?? {}, 'tables');
  if (version === 0 && applicationId === 0 && tables === 0) {
    return 0;
  }
  if (applicationId !== APPLICATION_ID || version < 1) {
    throw new SandboxError('SANDBOX_DATABASE', `${file} belongs to another application. Use another file.`);
  }
  if (version > supported) {
    throw new SandboxError(
      'SANDBOX_DATABASE',
      `${file} has data version ${version}, but this Notigraph supports versions up to ${supported}. Update Notigraph or use another file.`,
    );
  }
  return version;
}

/**
 * Checks that a sandbox could open a file, without opening it for writing. A file that doesn't exist is created by the sandbox.
 *
 * @throws {SandboxError} otherwise
 */
export function assertUsable(file: string, migrations: readonly Migration[]): void {
  if (file === ':memory:' || !existsSync(file)) {
    return;
  }
  try {
    // "immutable" keeps SQLite from creating files beside it.
    using connection = new DatabaseSync(new URL('?immutable=1', pathToFileURL(file)), { readOnly: true });
    readVersion(connection, file, migrations.at(-1)?.version ?? 0);
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
    const connection = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      if (integer(connection.prepare('PRAGMA application_id').get() ?? {}, 'application_id') !== APPLICATION_ID) {
        throw new SandboxError('SANDBOX_DATABASE', `${file} is not the database of a sandbox. It was not changed.`);
      }
    } finally {
      connection.close();
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
