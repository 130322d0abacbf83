import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { SandboxError } from './errors.ts';
import type { Migration } from './migrations.ts';
import { integer, text } from './rows.ts';

/** Identifies a file of this application (SQLite's `application_id`): the four letters NTGR. */
const APPLICATION_ID = 0x4e_54_47_52;

/** Maximum time that a write waits for another process's write lock, for example during an upgrade of the file. */
const BUSY_TIMEOUT_MS = 5000;

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
   * Runs the function in a write transaction. If the function throws, nothing is written.
   *
   * @throws {SandboxError} if the file can't be written, for example because the disk is full
   */
  transaction<T>(run: () => T): T {
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

/**
 * Returns the version of a file; 0 for a new file.
 *
 * @throws {SandboxError} if the file belongs to another application or a later version
 */
function readVersion(connection: DatabaseSync, file: string, supported: number): number {
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

function fileFailureOf(error: unknown): string | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? FILE_FAILURES.get(error.errcode & 0xff)
    : undefined;
}

/** Returns the failure as a `SandboxError` if its cause is the file or its folder, or else the error itself. */
function describeFailure(error: unknown, file: string): unknown {
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
