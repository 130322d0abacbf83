import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  APPLICATION_ID,
  BUSY_TIMEOUT_MS,
  describeFailure,
  fileFailureOf,
  type Migration,
  readVersion,
} from './database-file.ts';
import { SandboxError } from './errors.ts';
import { text } from './rows.ts';

/** Options of `SandboxDatabase`. */
export interface DatabaseOptions {
  /** In the order of their versions; the last one is the supported version. */
  migrations: readonly Migration[];
  /** Called after migrations ran, in their transaction. `from` is the previous version of the file; 0 for a new file. */
  onUpgrade: (database: SandboxDatabase, from: number) => void;
}

/**
 * The sandbox's SQLite file. WAL with synchronous=FULL: once a transaction has returned, its writes are on disk, so they survive a killed
 * process and a power failure.
 */
export class SandboxDatabase {
  readonly #connection: DatabaseSync;
  readonly #file: string;
  readonly #options: DatabaseOptions;
  /** Version of the last migration. */
  readonly #supported: number;

  /** @throws {SandboxError} if the file can't be used; it is left unchanged */
  constructor(file: string, options: DatabaseOptions) {
    this.#file = file;
    this.#options = options;
    this.#supported = options.migrations.at(-1)?.version ?? 0;
    this.#connection = connect(file);
    try {
      const version = this.#readVersion(); // Before anything is written to the file.
      this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      if (version < this.#supported) {
        this.transaction(() => this.#upgrade());
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

  /** Removes all tables and creates them anew, with samples. Other processes that use the file see the new records at once. */
  recreate(): void {
    this.transaction(() => {
      const tables = this.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      ).all();
      for (const table of tables) {
        this.#connection.exec(`DROP TABLE "${text(table, 'name')}"`);
      }
      this.#connection.exec('PRAGMA application_id = 0; PRAGMA user_version = 0;');
      this.#upgrade();
    });
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

  #upgrade(): void {
    const { migrations, onUpgrade } = this.#options;
    // Read again under the write lock: another process may have upgraded the file in the meantime.
    const from = this.#readVersion();
    const pending = migrations.filter(({ version }) => version > from);
    if (pending.length === 0) {
      return;
    }
    for (const migration of pending) {
      this.#run(migration);
    }
    onUpgrade(this, from);
    this.#connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${this.#supported};`);
  }

  #run({ version, description, sql }: Migration): void {
    try {
      this.#connection.exec(sql);
    } catch (error) {
      if (fileFailureOf(error) !== undefined || !(error instanceof Error)) {
        throw error;
      }
      const message = `${this.#file} can't be upgraded: migration ${version} failed (${description} ${error.message}). The file was not changed.`;
      throw new SandboxError('SANDBOX_DATABASE', message, { cause: error });
    }
  }

  #readVersion(): number {
    return readVersion(this.#connection, this.#file, this.#supported);
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
