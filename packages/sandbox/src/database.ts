import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { APPLICATION_ID, BUSY_TIMEOUT_MS, describeFailure, isNew, versionOf } from './database-file.ts';
import { text } from './rows.ts';

/** Options of `SandboxDatabase`. */
export interface DatabaseOptions {
  /** Statements that create all tables. */
  schema: string;
  /** Called after the tables were created, in the same transaction. */
  onCreate: (database: SandboxDatabase) => void;
  /** Whether the tables of a sandbox's file are removed and created anew, whatever version wrote it. @default false */
  isReset?: boolean;
}

/**
 * The sandbox's SQLite file. WAL with synchronous=FULL: once a transaction has returned, its writes are on disk, so they survive a killed
 * process and a power failure.
 */
export class SandboxDatabase {
  readonly #connection: DatabaseSync;
  readonly #file: string;
  readonly #options: DatabaseOptions;

  /** @throws {SandboxError} if the file can't be used; it is left unchanged */
  constructor(file: string, options: DatabaseOptions) {
    this.#file = file;
    this.#options = options;
    this.#connection = connect(file);
    try {
      const mustCreate = options.isReset || this.#isNew(); // Before anything is written to the file.
      this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      if (mustCreate) {
        this.transaction(() => this.#create());
      }
    } catch (error) {
      this.#connection.close();
      throw describeFailure(error, file);
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /**
   * Runs the function in a write transaction, or in the current one. If the function throws, nothing is written.
   *
   * @throws {SandboxError} if the file can't be written, for example because the disk is full
   */
  transaction<T>(run: () => T): T {
    if (this.#connection.isTransaction) {
      return run();
    }
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      const result = run();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      // After some failures, such as a full disk, SQLite has already rolled back.
      if (this.#connection.isTransaction) {
        this.#connection.exec('ROLLBACK');
      }
      throw describeFailure(error, this.#file);
    }
  }

  /** Runs the function in a savepoint of the current transaction. If the function throws, only its own writes are undone. */
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

  [Symbol.dispose](): void {
    this.close();
  }

  #create(): void {
    const { schema, onCreate, isReset } = this.#options;
    if (isReset) {
      this.#dropTables();
    } else if (!this.#isNew()) {
      return; // Another process has created the tables before this one got the write lock.
    }
    this.#connection.exec(schema);
    onCreate(this);
    this.#connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${versionOf(schema)};`);
  }

  #dropTables(): void {
    const tables = this.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    ).all();
    for (const table of tables) {
      this.#connection.exec(`DROP TABLE "${text(table, 'name')}"`);
    }
  }

  #isNew(): boolean {
    return isNew(this.#connection, this.#file, this.#options.schema);
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
