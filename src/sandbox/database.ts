import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { SandboxError } from './errors.ts';
import { integer } from './rows.ts';
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './schema.ts';

/** How long another process may hold the file before a write gives up. */
const BUSY_TIMEOUT_MS = 2000;

/**
 * The sandbox's SQLite file. WAL with synchronous=FULL: when a transaction has returned, its writes are on disk, so an
 * answer that was sent survives a killed process and a power cut.
 */
export class SandboxDatabase {
  readonly #connection: DatabaseSync;

  /** @param fill writes the sample data of a new file, in the transaction that creates the tables */
  constructor(file: string, fill: (database: SandboxDatabase) => void) {
    this.#connection = connect(file);
    try {
      this.#refuseForeignFile(file);
      this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      this.transaction(() => {
        // Looked at again under the write lock: two processes may have been started on the same new file.
        if (this.#pragma('user_version') === 0) {
          this.#connection.exec(SCHEMA);
          fill(this);
          this.#connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`);
        }
      });
    } catch (error) {
      this.#connection.close();
      throw describeFailure(error, file);
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Runs the function in one write transaction; what it throws undoes everything. */
  transaction<T>(run: () => T): T {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite has already rolled back after some failures, a full disk for one.
      if (this.#connection.isTransaction) {
        this.#connection.exec('ROLLBACK');
      }
      throw error;
    }
  }

  /** Inside a transaction: undoes only what the function did when it throws. */
  savepoint<T>(run: () => T): T {
    this.#connection.exec('SAVEPOINT attempt');
    try {
      return run();
    } catch (error) {
      if (this.#connection.isTransaction) {
        this.#connection.exec('ROLLBACK TO attempt');
      }
      throw error;
    } finally {
      if (this.#connection.isTransaction) {
        this.#connection.exec('RELEASE attempt');
      }
    }
  }

  close(): void {
    this.#connection.close();
  }

  #refuseForeignFile(file: string): void {
    const version = this.#pragma('user_version');
    const tables = integer(this.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() ?? {}, 'tables');
    if (tables > 0 && this.#pragma('application_id') !== APPLICATION_ID) {
      throw new SandboxError('SANDBOX_DATABASE', `${file} is a database of another program; name another file.`);
    }
    if (version > SCHEMA_VERSION) {
      throw new SandboxError(
        'SANDBOX_DATABASE',
        `${file} was written by a newer version of the sandbox (data version ${version}, this one reads up to ${SCHEMA_VERSION}).`,
      );
    }
  }

  #pragma(name: 'user_version' | 'application_id'): number {
    return integer(this.prepare(`PRAGMA ${name}`).get() ?? {}, name);
  }
}

function connect(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') {
      mkdirSync(dirname(file), { recursive: true });
    }
    return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw describeFailure(error, file);
  }
}

/** SQLite's primary result codes that say something about the file; anything else is a bug and stays as it is. */
const FILE_FAILURES = new Map([
  [5, 'is locked by another program'],
  [8, 'cannot be written'],
  [10, 'cannot be read or written'],
  [11, 'is damaged'],
  [13, 'cannot grow, the disk is full'],
  [14, 'cannot be opened'],
  [26, 'is not a SQLite database'],
]);

function describeFailure(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof SandboxError) {
    return error;
  }
  if ('errcode' in error && typeof error.errcode === 'number') {
    const failure = FILE_FAILURES.get(error.errcode & 0xff);
    return failure === undefined
      ? error
      : new SandboxError('SANDBOX_DATABASE', `${file} ${failure}.`, { cause: error });
  }
  if ('syscall' in error) {
    const message = `The folder of ${file} cannot be created (${error.message}).`;
    return new SandboxError('SANDBOX_DATABASE', message, { cause: error });
  }
  return error;
}
