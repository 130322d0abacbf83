import { hash, randomUUID } from 'node:crypto';
import { closeSync, constants, fchmodSync, lstatSync, openSync, readSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { errorCodeOf } from '../../lib/error-code.ts';
import { assertRegularFile, FileError } from '../../lib/files/text-file.ts';
import type { SubscriberFields } from '../../upstream/endpoints/subscribers.ts';
import { ConfigError } from '../config/problem.ts';

/** Ends an import that can be resumed. The message is for the operator. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** Step that is necessary before the other rows can be sent, as a sentence. @default nothing: the same command resumes the import */
  readonly remedy: string | undefined;

  constructor(message: string, { remedy, cause }: { remedy?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.remedy = remedy;
  }
}

/**
 * Outcome of a row. `failed`: the service rejected it, so nothing was changed; `unknown`: it may have been applied; `pending`: it was not sent;
 * `invalid`: the file has to be corrected.
 */
export type Outcome = z.output<typeof OUTCOME>;
const OUTCOME = z.enum(['created', 'updated', 'failed', 'unknown', 'pending', 'invalid']);

/** Row with its outcome. */
export type Entry = z.output<typeof ENTRY>;
const ENTRY = z.object({
  line: z.int(),
  subscriberId: z.string().nullable(),
  outcome: OUTCOME,
  code: z.string().nullable(),
  message: z.string().nullable(),
});

/** Number of rows by outcome. */
export type Counts = Record<Outcome, number>;

/** Row that can be sent. */
export interface SendableRow {
  line: number;
  subscriber: SubscriberFields;
}

const COUNT = z.object({ outcome: OUTCOME, rows: z.int() });
const PLAN = z.object({ key: z.string(), outcome: OUTCOME.nullable() });
const TARGET = z.object({ service: z.string(), environmentId: z.string().nullable() });

/** Identifies a results file (SQLite's `application_id`): the four letters NTGI. */
const APPLICATION_ID = 0x4e_54_47_49;

/** A row whose line is NULL is not in the file any more. An outcome of NULL is pending. */
const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE IF NOT EXISTS target (service TEXT NOT NULL, environmentId TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS rows (
    subscriberId TEXT PRIMARY KEY, line INTEGER, digest BLOB NOT NULL, key TEXT NOT NULL,
    outcome TEXT, code TEXT, message TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS problems (line INTEGER NOT NULL, subscriberId TEXT, message TEXT NOT NULL) STRICT;
  CREATE VIEW IF NOT EXISTS outcomes AS
    SELECT line, subscriberId, coalesce(outcome, 'pending') AS outcome, code, message FROM rows WHERE line IS NOT NULL
    UNION ALL SELECT line, subscriberId, 'invalid', NULL, message FROM problems;
`;

/** A row that has changed gets another key and is pending again. Nothing is returned for the second row of a subscriber. */
const ADD = `
  INSERT INTO rows (subscriberId, line, digest, key) VALUES (:subscriberId, :line, :digest, :key)
  ON CONFLICT DO UPDATE SET
    line = excluded.line,
    digest = excluded.digest,
    key = iif(digest = excluded.digest, key, excluded.key),
    outcome = iif(digest = excluded.digest, outcome, NULL),
    code = iif(digest = excluded.digest, code, NULL),
    message = iif(digest = excluded.digest, message, NULL)
  WHERE line IS NULL
  RETURNING key`;

const HEADER = 'SQLite format 3\0';

/** Beginning of the results that earlier versions wrote, as JSON lines. */
const FORMER_HEADER = '{"import":"subscribers"';

/** SQLite's code for a file that another process has locked. */
const BUSY = 5;

/**
 * Results file of an import: a SQLite database with the rows of the file, their idempotency keys and outcomes, but none of their values besides the ids.
 * It is locked for other processes as long as it is open. What the check finds is one transaction that ends with `begin`, so nothing of an earlier
 * import is lost before; after it, each outcome is stored when `record` returns, so that killing the process loses none. A power failure can lose the
 * last ones. Their rows are sent again with the same keys.
 */
export class Results implements Disposable {
  readonly #path: string | undefined;
  readonly #database: DatabaseSync;
  readonly #isNew: boolean;
  #hasOutcomes = false;
  readonly #add;
  readonly #lineOf;
  readonly #reject;
  readonly #find;
  readonly #record;
  /** Number of rows that the last import didn't have, or had with other values. */
  changed = 0;

  /**
   * @param path path of the file; undefined for a temporary one
   * @param restarts whether rows are sent that were applied before
   * @throws {ConfigError} if another import is using the file, or it is another kind of file, which must not be overwritten
   * @throws {ImportError} if it can't be written
   */
  constructor(path: string | undefined, restarts = false) {
    this.#path = path;
    if (path !== undefined) {
      this.#attempt(() => prepareFile(path));
    }
    this.#database = this.#attempt(() => new DatabaseSync(path ?? '', { timeout: 0 }));
    try {
      this.#isNew = this.#attempt(() => this.#open());
      this.#add = this.#database.prepare(ADD);
      this.#lineOf = this.#database.prepare('SELECT line FROM rows WHERE subscriberId = ?');
      this.#reject = this.#database.prepare('INSERT INTO problems (line, subscriberId, message) VALUES (?, ?, ?)');
      this.#find = this.#database.prepare(
        'SELECT key, outcome FROM rows WHERE subscriberId = ? AND line = ? AND digest = ?',
      );
      this.#record = this.#database.prepare(
        'UPDATE rows SET outcome = ?, code = ?, message = ? WHERE subscriberId = ?',
      );
      this.#attempt(() =>
        this.#database.exec(`
          BEGIN IMMEDIATE;
          DELETE FROM problems;
          ${restarts ? 'DELETE FROM rows; DELETE FROM target;' : 'UPDATE rows SET line = NULL;'}
        `),
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Locks the file, and creates its tables. Returns whether it is new. */
  #open(): boolean {
    // Without the shared memory of other modes, which some network file systems don't have.
    // guard: test/cli/import-results.test.ts
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    const number = (sql: string) => z.int().parse(Object.values(this.#database.prepare(sql).get() ?? {})[0]);
    const id = number('PRAGMA application_id');
    const isNew = id === 0 && number('SELECT count(*) FROM sqlite_schema') === 0;
    // guard: test/cli/import-results.test.ts
    if (!isNew && id !== APPLICATION_ID) {
      throw notResults(this.#path);
    }
    this.#database.exec(SCHEMA);
    return isNew;
  }

  /** Adds a row of the file. Returns the line of an earlier one of the same subscriber; otherwise undefined. */
  add({ line, subscriber }: SendableRow): number | undefined {
    const { subscriberId } = subscriber;
    return this.#attempt(() => {
      const key = randomUUID();
      const added = this.#add.get({ subscriberId, line, digest: digestOf(subscriber), key });
      this.changed += Number(added?.key === key);
      return added === undefined ? Number(this.#lineOf.get(subscriberId)?.line) : undefined;
    });
  }

  /** Adds a problem of the file. */
  reject({ line, subscriberId }: { line: number; subscriberId?: string | undefined }, message: string): void {
    this.#attempt(() => this.#reject.run(line, subscriberId ?? null, message));
  }

  /**
   * Ends the check, after which rows can be sent. Its results are on the disk then: without the keys, rows couldn't be sent again safely.
   *
   * @param service address
   * @param environmentId environment of the API key; undefined if the service didn't tell
   * @throws {ConfigError} if the results are those of another service or environment
   */
  begin(service: string, environmentId: string | undefined): void {
    const { data: earlier } = TARGET.safeParse(this.#database.prepare('SELECT * FROM target').get());
    const other = (kind: string, ids: string) =>
      new ConfigError([`${this.#path} has the results of another ${kind}, ${ids} Name another file with --results.`]);
    if (earlier !== undefined && earlier.service !== service) {
      throw other('service', `${earlier.service}.`);
    }
    const earlierId = earlier?.environmentId ?? environmentId;
    // guard: test/cli/import.test.ts
    if (environmentId !== undefined && earlierId !== environmentId) {
      throw other('environment', `${earlierId}. This API key belongs to ${environmentId}.`);
    }
    this.#attempt(() => {
      this.#database.exec('DELETE FROM rows WHERE line IS NULL; DELETE FROM target;');
      this.#database.prepare('INSERT INTO target VALUES (?, ?)').run(service, earlierId ?? null);
      this.#database.exec('COMMIT; PRAGMA synchronous = NORMAL;');
    });
  }

  /** Returns the idempotency key and the outcome of a row; undefined if the check had no such row. */
  find({ line, subscriber }: SendableRow): z.output<typeof PLAN> | undefined {
    return PLAN.optional().parse(this.#find.get(subscriber.subscriberId, line, digestOf(subscriber)));
  }

  /** Stores the outcome of a row, also that of a try that may have been applied. @throws {ImportError} if the disk is full, or the like */
  record(subscriberId: string, outcome: Outcome, failure?: { code: string; message: string }): void {
    this.#hasOutcomes = true; // Also if it can't be written: the row may be applied.
    this.#attempt(() => this.#record.run(outcome, failure?.code ?? null, failure?.message ?? null, subscriberId));
  }

  counts(): Counts {
    const sql = 'SELECT outcome, count(DISTINCT line) AS rows FROM outcomes GROUP BY outcome';
    const counts = { created: 0, updated: 0, failed: 0, unknown: 0, pending: 0, invalid: 0 };
    for (const row of this.#database.prepare(sql).all()) {
      const { outcome, rows } = COUNT.parse(row);
      counts[outcome] = rows;
    }
    return counts;
  }

  /** Yields rows with these outcomes, in the order of the file. A row with several problems is yielded several times. */
  *entries(outcomes: readonly Outcome[] = OUTCOME.options, limit = -1): Generator<Entry> {
    const sql = 'SELECT * FROM outcomes WHERE outcome IN (SELECT value FROM json_each(?)) ORDER BY line LIMIT ?';
    for (const row of this.#database.prepare(sql).iterate(JSON.stringify(outcomes), limit)) {
      yield ENTRY.parse(row);
    }
  }

  /** Closes the file. A new one is removed if nothing was sent, so that the next import can use another key or address. */
  [Symbol.dispose](): void {
    this.#attempt(() => {
      if (this.#database.isTransaction) {
        // guard: test/cli/import.test.ts
        this.#database.exec('ROLLBACK');
      }
      this.#database.exec('PRAGMA journal_mode = DELETE'); // A single file, which programs without write access can read too.
      this.#database.close();
      // guard: test/cli/import-failures.test.ts
      if (this.#isNew && !this.#hasOutcomes && this.#path !== undefined) {
        rmSync(this.#path, { force: true });
      }
    });
  }

  /** @throws {ConfigError} if another import is using the file @throws {ImportError} if it can't be written */
  #attempt<T>(work: () => T): T {
    try {
      return attempt(`results file ${this.#path}`, work, ', or name another file with --results');
    } catch (error) {
      if (error instanceof ImportError && isBusy(error.cause)) {
        throw new ConfigError([
          `Another import with the results file ${this.#path} is running. Wait until it ends, or name another file with --results.`,
        ]);
      }
      throw error;
    }
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === BUSY;

/**
 * Does something with a file.
 *
 * @param file words that follow "The"
 * @param alternative words that follow the advice to repeat the command. @default none
 * @throws {ImportError} if the system or SQLite can't
 */
export function attempt<T>(file: string, work: () => T, alternative = ''): T {
  try {
    return work();
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === undefined
      ? error
      : new ImportError(
          `The ${file} can't be written: ${reason}. Fix this and run the same command again${alternative}.`,
          {
            cause: error,
          },
        );
  }
}

const digestOf = (subscriber: SubscriberFields): Buffer => hash('sha256', JSON.stringify(subscriber), 'buffer');

/** Creates the file, or checks it, which SQLite would do with the target of a symbolic link too. */
function prepareFile(path: string): void {
  try {
    assertRegularFile(path, lstatSync);
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
    if (!error.isMissing) {
      throw new ConfigError([`--results: the file ${path} ${error.message}.`]);
    }
  }
  const file = openPrivateFile(path, constants.O_RDWR);
  try {
    const bytes = Buffer.alloc(HEADER.length);
    const header = bytes.toString('latin1', 0, readSync(file, bytes));
    if (header !== '' && header !== HEADER) {
      throw FORMER_HEADER.startsWith(header) ? formerResults(path) : notResults(path);
    }
    restrict(file);
  } finally {
    closeSync(file);
  }
}

const notResults = (path: string | undefined) =>
  new ConfigError([`The file ${path} has no results of an import. Name another one with --results.`]);

/** Returns the error for results of an earlier version. */
export const formerResults = (path: string) =>
  new ConfigError([
    `${path} has the results of an earlier version of Notigraph, which this version can't resume. Finish that import with the earlier version. Or delete the file, and all rows are sent.`,
  ]);

/** Opens a file that only its owner can read, because it tells whose data was imported. Doesn't follow a symbolic link, which could lead to any file of the user. */
export function openPrivateFile(path: string, flags: number): number {
  // Windows has no O_NOFOLLOW.
  return openSync(path, flags | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
}

/** Restricts a file of another program to its owner. */
function restrict(file: number): void {
  try {
    fchmodSync(file, 0o600);
  } catch {
    // Some file systems, such as FAT, have no modes.
  }
}

/**
 * Returns the reason of a failure of SQLite or the system without its code and path: `no space left on device` for `ENOSPC: no space left on device,
 * write`. Returns undefined for other errors.
 */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  if (errorCodeOf(error) === 'ELOOP') {
    return 'it is a symbolic link';
  }
  return 'errcode' in error ? error.message : /^E\w+: ([^,]+)/.exec(error.message)?.[1];
}
