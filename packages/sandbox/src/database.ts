// The sandbox's SQLite file: opens it, writes in transactions, and describes its problems.

import { hash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SandboxError } from './errors.ts';
import { integer, text } from './rows.ts';

/** Identifies a file of this application (SQLite's `application_id`): the four letters NTGR. */
const APPLICATION_ID = 0x4e_54_47_52;

/** Only the owner may read the records, which can be those of people. */
const MODE = 0o600;

/** Maximum time that a write waits for another process's write lock, for example while that one creates the tables. */
const BUSY_TIMEOUT_MS = 5000;

const TRANSACTION = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', undo: 'ROLLBACK' };
const SAVEPOINT = { begin: 'SAVEPOINT inner', commit: 'RELEASE inner', undo: 'ROLLBACK TO inner; RELEASE inner' };

/** Returns the number that identifies a schema in files (SQLite's `user_version`). It follows from the text, so any change of the schema changes it. */
const versionOf = (schema: string): number => hash('sha256', schema, 'buffer').readUInt32BE() >>> 1;

/**
 * The sandbox's SQLite file. WAL with synchronous=FULL: once a transaction has returned, its writes are on disk, so they survive a killed
 * process and a power failure.
 */
export class SandboxDatabase {
  readonly #connection: DatabaseSync;
  readonly #file: string;

  /**
   * @param schema statements that create all tables
   * @param onCreate called after the tables were created, in the same transaction
   * @param isReset whether the tables of a sandbox's file are removed and created anew, whatever version wrote it
   * @throws {SandboxError} if the file can't be used; it is left unchanged
   */
  constructor(file: string, schema: string, onCreate: (database: SandboxDatabase) => void, isReset = false) {
    this.#file = file;
    this.#connection = connect(file);
    const isUnwritten = () => isNew(this.#connection, file, schema);
    try {
      const mustCreate = isReset || isUnwritten(); // Before anything is written to the file.
      this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      if (mustCreate) {
        this.transaction(() => {
          if (isReset) {
            this.#dropTables();
          } else if (!isUnwritten()) {
            return; // Another process has created the tables before this one got the write lock.
          }
          this.#connection.exec(schema);
          onCreate(this);
          this.#connection.exec(
            `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${versionOf(schema)};`,
          );
        });
      }
      if (isReset) {
        this.#connection.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);'); // Otherwise removed records stay in free pages and in the WAL.
      }
    } catch (error) {
      this.#connection.close();
      throw describeFailure(error, file);
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Prepares a query with named parameters that lists records, which are read by pages. The number and the size of a page can be texts. */
  preparePages(sql: string) {
    const list = this.prepare(`${sql} LIMIT :limit OFFSET :offset`);
    const count = this.prepare(`SELECT count(*) AS total FROM (${sql})`);
    return (parameters: Record<string, SQLInputValue>, page: unknown = 0, pageSize: unknown = 10) => {
      const [limit, offset] = [Number(pageSize), Number(page) * Number(pageSize)];
      const rows = list.all({ ...parameters, limit, offset });
      const totalCount = integer(count.get(parameters) ?? {}, 'total');
      return { page, pageSize, totalCount, hasMore: offset + rows.length < totalCount, rows };
    };
  }

  /**
   * Runs the function in a write transaction, or in a savepoint of the current one. If the function throws, its writes are undone.
   *
   * @throws {SandboxError} if the file can't be written, for example because the disk is full
   */
  transaction<T>(run: () => T): T {
    const { begin, commit, undo } = this.#connection.isTransaction ? SAVEPOINT : TRANSACTION;
    try {
      this.#connection.exec(begin);
      const result = run();
      this.#connection.exec(commit);
      return result;
    } catch (error) {
      // After some failures, such as a full disk, SQLite has already rolled back.
      if (this.#connection.isTransaction) {
        this.#connection.exec(undo);
      }
      throw describeFailure(error, this.#file);
    }
  }

  /** Makes the current records those that `restore()` returns to. Nothing is written to a file from then on. */
  keep(): void {
    this.#connection.exec('BEGIN');
  }

  /** Undoes everything since `keep()`. */
  restore(): void {
    this.#connection.exec('ROLLBACK; BEGIN');
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  #dropTables(): void {
    const tables = this.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    ).all();
    for (const table of tables) {
      this.#connection.exec(`DROP TABLE "${text(table, 'name')}"`);
    }
  }
}

function connect(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') {
      mkdirSync(dirname(file), { recursive: true });
      if (!existsSync(file)) {
        closeSync(openSync(file, 'a', MODE)); // SQLite would create it for everybody to read. Files beside it get its mode.
      }
    }
    return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw describeFailure(error, file);
  }
}

/**
 * Returns whether a file is new.
 *
 * @throws {SandboxError} if another application or another version of Notigraph wrote it
 */
function isNew(connection: DatabaseSync, file: string, schema: string): boolean {
  const version = readPragma(connection, 'user_version');
  const applicationId = readPragma(connection, 'application_id');
  const tables = integer(connection.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() ?? {}, 'tables');
  if (version === 0 && applicationId === 0 && tables === 0) {
    return true;
  }
  if (applicationId !== APPLICATION_ID) {
    throw new SandboxError(`${file} belongs to another application. Use another file.`);
  }
  if (version !== versionOf(schema)) {
    throw new SandboxError(
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
    throw new SandboxError(`${file} doesn't exist.`);
  }
  try {
    using connection = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (readPragma(connection, 'application_id') !== APPLICATION_ID) {
      throw new SandboxError(`${file} is not the database of a sandbox. It was not changed.`);
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

/** Returns the failure as a `SandboxError` if its cause is the file or its folder, or else the error itself. */
function describeFailure(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  const failure = FILE_FAILURES.get(code);
  if (failure !== undefined) {
    return new SandboxError(`${file} ${failure}.`, { cause: error });
  }
  if (error instanceof Error && 'syscall' in error) {
    const isOpened = error.syscall === 'open';
    const message = isOpened
      ? `${file} can't be opened.`
      : `The folder of ${file} can't be created (${error.message}).`;
    return new SandboxError(message, { cause: error });
  }
  return error;
}
