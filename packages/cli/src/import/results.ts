// The results file of an import, and its errors.

import { hash, randomUUID } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { errorCodeOf } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { CommandError, ConfigError } from '../config/problem.ts';

/** Ends an import that can be resumed. The message is for the operator. */
export class ImportError extends CommandError {
  override readonly name = 'ImportError';
}

/**
 * Outcome of a row. `failed`: the service rejected it, so nothing was changed; `unknown`: it may have been applied; `pending`: it was not sent;
 * `invalid`: the file has to be corrected; `uncleared`: it was applied, but the service kept values that null or an empty list was to clear.
 */
export type RowOutcome = z.output<typeof OUTCOME>;
const OUTCOME = z.enum(['created', 'updated', 'failed', 'unknown', 'pending', 'invalid', 'uncleared']);

export type Entry = z.output<typeof ENTRY>;
const ENTRY = z.object({
  line: z.int(),
  subscriberId: z.string().nullable(),
  outcome: OUTCOME,
  code: z.string().nullable(),
  message: z.string().nullable(),
});

export type Counts = Record<RowOutcome, number>;

export interface SendableRow {
  line: number;
  subscriber: SubscriberFields;
}

/** Row that is not applied, with its idempotency key and its outcome so far. */
export interface PendingRow extends SendableRow {
  key: string;
  outcome: RowOutcome | null;
}

const COUNT = z.object({ outcome: OUTCOME, rows: z.int() });
const FIELDS = z.custom<SubscriberFields>(isRecord); // They were checked before they were stored.
const PENDING = z.object({ line: z.int(), fields: z.string(), key: z.string(), outcome: OUTCOME.nullable() });
const TARGET = z.object({ service: z.string(), environmentId: z.string().nullable(), startedAt: z.int().optional() });

/** Identifies a results file (SQLite's `application_id`): the four letters NTGI. */
const APPLICATION_ID = 0x4e_54_47_49;

const TARGET_TABLE = 'target (service TEXT NOT NULL, environmentId TEXT, startedAt INTEGER) STRICT';

/**
 * A row whose line is NULL is not in the file any more. An outcome of NULL is pending. The values of the rows are only in the table `subscribers`,
 * which is temporary: SQLite keeps it in memory or in a file without a name, which ends with the process.
 */
const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE IF NOT EXISTS ${TARGET_TABLE};
  CREATE TABLE IF NOT EXISTS rows (
    subscriberId TEXT PRIMARY KEY, line INTEGER, digest BLOB NOT NULL, key TEXT NOT NULL,
    outcome TEXT, code TEXT, message TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS problems (line INTEGER NOT NULL, subscriberId TEXT, message TEXT NOT NULL) STRICT;
  CREATE TEMP TABLE subscribers (line INTEGER PRIMARY KEY, subscriberId TEXT NOT NULL, fields TEXT NOT NULL) STRICT;
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

/** Rows that are read at a time. A longer read would keep SQLite from reusing its write-ahead log, which would grow with each outcome. */
const PAGE = 100;

const NEXT_PAGE = `
  SELECT subscribers.line, fields, key, outcome FROM subscribers CROSS JOIN rows USING (subscriberId)
  WHERE subscribers.line > ? AND coalesce(outcome, 'pending') NOT IN ('created', 'updated')
  ORDER BY subscribers.line LIMIT ${PAGE}`;

/** Makes applied rows pending, with new keys: the first, which shows whether the environment is the same, or all. */
const SEND_AGAIN = `
  UPDATE rows SET outcome = NULL, key = hex(randomblob(16)) WHERE subscriberId IN (
    SELECT subscriberId FROM subscribers JOIN rows USING (subscriberId) WHERE outcome IN ('created', 'updated')
    ORDER BY subscribers.line LIMIT ?)`;

const prepareStatements = (database: DatabaseSync) => ({
  add: database.prepare(ADD),
  lineOf: database.prepare('SELECT line FROM rows WHERE subscriberId = ?'),
  reject: database.prepare('INSERT INTO problems (line, subscriberId, message) VALUES (?, ?, ?)'),
  keep: database.prepare('INSERT INTO subscribers VALUES (?, ?, ?)'),
  nextPage: database.prepare(NEXT_PAGE),
  record: database.prepare('UPDATE rows SET outcome = ?, code = ?, message = ? WHERE subscriberId = ?'),
});

/** SQLite's codes for a file that another process has locked, and for one of another kind. */
const BUSY = 5;
const NOT_A_DATABASE = 26;

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
  /** Environment of the earlier results; undefined if there are none, or the service has never told it. */
  #environmentId: string | undefined;
  #isConfirmed = false;
  /** Start of the first import with these results, in milliseconds since 1970. */
  startedAt = Date.now();
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Number of rows that the last import didn't have, or had with other values. */
  changed = 0;

  /**
   * @param path path of the file; undefined for a temporary one
   * @param restarts whether rows are sent that were applied before
   * @throws {ConfigError} if it is another kind of file, which must not be overwritten
   */
  constructor(path: string | undefined, restarts = false) {
    this.#path = path;
    if (path !== undefined) {
      prepareFile(path);
    }
    this.#database = new DatabaseSync(path ?? '', { timeout: 0 });
    try {
      this.#isNew = this.#open();
      this.#statements = prepareStatements(this.#database);
      this.#database.exec(`
        BEGIN IMMEDIATE;
        DELETE FROM problems;
        ${restarts ? 'DELETE FROM rows; DELETE FROM target;' : 'UPDATE rows SET line = NULL;'}
      `);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Locks the file, and creates its tables. Returns whether it is new. */
  #open(): boolean {
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE'); // Without shared memory, which some network file systems don't have.
    const number = (sql: string) => z.int().parse(Object.values(this.#database.prepare(sql).get() ?? {})[0]);
    const id = number('PRAGMA application_id');
    const isNew = id === 0 && number('SELECT count(*) FROM sqlite_schema') === 0;
    if (!isNew && id !== APPLICATION_ID) {
      throw notResults(this.#path);
    }
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${SCHEMA}`);
    return isNew;
  }

  /** Adds a row of the file. Returns the line of an earlier one of the same subscriber; otherwise undefined. */
  add({ line, subscriber }: SendableRow): number | undefined {
    const { subscriberId } = subscriber;
    const key = randomUUID();
    const fields = JSON.stringify(subscriber);
    const added = this.#statements.add.get({ subscriberId, line, digest: hash('sha256', fields, 'buffer'), key });
    if (added === undefined) {
      return Number(this.#statements.lineOf.get(subscriberId)?.line);
    }
    this.changed += Number(added.key === key);
    this.#statements.keep.run(line, subscriberId, fields);
    return undefined;
  }

  reject({ line, subscriberId }: { line: number; subscriberId?: string | undefined }, message: string): void {
    this.#statements.reject.run(line, subscriberId ?? null, message);
  }

  /**
   * Ends the check, after which rows can be sent. Its results are on the disk then: without the keys, rows couldn't be sent again safely.
   *
   * @param service address
   * @param environmentId environment of the API key; undefined if the service didn't tell yet. Then it isn't assumed to be that of the results
   * @throws {ConfigError} if the results are those of another service or environment
   */
  begin(service: string, environmentId: string | undefined): void {
    const { data: earlier } = TARGET.safeParse(this.#database.prepare('SELECT * FROM target').get());
    if (earlier !== undefined && earlier.service !== service) {
      throw this.#belongsTo('service', `${earlier.service}.`);
    }
    this.#environmentId = earlier?.environmentId ?? undefined;
    this.startedAt = earlier?.startedAt ?? this.startedAt;
    // Version 1.0 had no time.
    this.#database.exec(`DELETE FROM rows WHERE line IS NULL; DROP TABLE target; CREATE TABLE ${TARGET_TABLE};`);
    const target = [service, this.#environmentId ?? null, this.startedAt];
    this.#database.prepare('INSERT INTO target VALUES (?, ?, ?)').run(...target);
    this.#database
      .prepare(SEND_AGAIN)
      .run(this.#environmentId === undefined ? -1 : Number(environmentId === undefined));
    this.confirm(environmentId);
    this.#database.exec('COMMIT; PRAGMA synchronous = NORMAL;');
  }

  /** Compares the environment that the first response names, and stores it. @throws {ConfigError} if the results are those of another one */
  confirm(environmentId: unknown): void {
    if (this.#isConfirmed || typeof environmentId !== 'string') {
      return;
    }
    this.#isConfirmed = true;
    if (this.#environmentId !== undefined && this.#environmentId !== environmentId) {
      throw this.#belongsTo('environment', `${this.#environmentId}. This API key belongs to ${environmentId}.`);
    }
    this.#database.prepare('UPDATE target SET environmentId = ?').run(environmentId);
  }

  #belongsTo(kind: string, ids: string): ConfigError {
    return new ConfigError([
      `${this.#path} has the results of another ${kind}, ${ids} Name another file with --results.`,
    ]);
  }

  /** Yields the rows that are not applied, in the order of the file. */
  *pending(): Generator<PendingRow, undefined> {
    for (let last = 0, length = PAGE; length === PAGE; ) {
      const rows = this.#statements.nextPage.all(last);
      length = rows.length;
      for (const row of rows) {
        const { line, fields, key, outcome } = PENDING.parse(row);
        yield { line, subscriber: FIELDS.parse(JSON.parse(fields)), key, outcome };
        last = line;
      }
    }
  }

  /** Stores the outcome of a row, also that of a try that may have been applied */
  record(subscriberId: string, outcome: RowOutcome, failure?: { code?: string; message: string }): void {
    this.#hasOutcomes = true; // Also if it can't be written: the row may be applied.
    this.#statements.record.run(outcome, failure?.code ?? null, failure?.message ?? null, subscriberId);
  }

  counts(): Counts {
    const sql = 'SELECT outcome, count(DISTINCT line) AS rows FROM outcomes GROUP BY outcome';
    const counts = { created: 0, updated: 0, failed: 0, unknown: 0, pending: 0, invalid: 0, uncleared: 0 };
    for (const row of this.#database.prepare(sql).all()) {
      const { outcome, rows } = COUNT.parse(row);
      counts[outcome] = rows;
    }
    return counts;
  }

  /** Yields rows with these outcomes, in the order of the file. A row with several problems is yielded several times. */
  *entries(outcomes: readonly RowOutcome[] = OUTCOME.options, limit = -1): Generator<Entry> {
    const sql = 'SELECT * FROM outcomes WHERE outcome IN (SELECT value FROM json_each(?)) ORDER BY line LIMIT ?';
    for (const row of this.#database.prepare(sql).iterate(JSON.stringify(outcomes), limit)) {
      yield ENTRY.parse(row);
    }
  }

  /** Closes the file. A new one is removed if nothing was sent, so that the next import can use another key or address. */
  [Symbol.dispose](): void {
    if (this.#database.isTransaction) {
      this.#database.exec('ROLLBACK');
    }
    this.#database.exec('PRAGMA journal_mode = DELETE'); // A single file, which programs without write access can read too.
    this.#database.close();
    if (this.#isNew && !this.#hasOutcomes && this.#path !== undefined) {
      rmSync(this.#path, { force: true });
    }
  }
}

/** Creates the file, or restricts it to its owner. */
function prepareFile(path: string): void {
  const file = openPrivateFile(path, constants.O_RDWR);
  try {
    fchmodSync(file, 0o600);
  } catch {
    // Some file systems, such as FAT, have no modes.
  } finally {
    closeSync(file);
  }
}

const notResults = (path: string | undefined) =>
  new ConfigError([`The file ${path} has no results of an import. Name another one with --results.`]);

/** Opens a file that only its owner can read, because it tells whose data was imported. Doesn't follow a symbolic link, which could lead to any file of the user. */
export function openPrivateFile(path: string, flags: number): number {
  // Windows has no O_NOFOLLOW.
  return openSync(path, flags | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
}

/**
 * Explains an error of SQLite or the system without its code: `no space left on device` for `ENOSPC: no space left on device, write`. Returns any
 * other error as it is.
 *
 * @param results path of the results file
 */
export function explainFileError(error: unknown, results: string): unknown {
  if (!(error instanceof Error)) {
    return error;
  }
  const errcode = 'errcode' in error ? error.errcode : undefined;
  if (errcode === BUSY) {
    return new ConfigError([
      `Another import with the results file ${results} is running. Wait until it ends, or name another file with --results.`,
    ]);
  }
  if (errcode === NOT_A_DATABASE) {
    return notResults(results);
  }
  const path = errcode === undefined && 'path' in error ? error.path : results;
  const file = path === results ? `results file ${results}` : `file ${path}`;
  const symptom = errorCodeOf(error) === 'ELOOP' ? 'it is a symbolic link' : /^E\w+: ([^,]+)/.exec(error.message)?.[1];
  const reason = errcode === undefined ? symptom : error.message;
  return reason === undefined
    ? error
    : new ImportError(`The ${file} can't be written: ${reason}. Fix this and run the same command again.`, {
        cause: error,
      });
}
