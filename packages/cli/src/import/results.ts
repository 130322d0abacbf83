// The results file of an import, and its errors.

import { createHmac, createSecretKey, hash, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, fchmodSync, openSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { env } from 'node:process';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { errorCodeOf, orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { CommandError, ConfigError } from '../config/problem.ts';

/** Ends an import, or another command for subscribers, that can be resumed. The message is for the operator. */
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

/** Row that is not applied. */
export type PendingRow = z.output<typeof PENDING_ROW>;
const PENDING_ROW = z.object({
  /** Number of the row in the file. */
  place: z.int(),
  line: z.int(),
  subscriber: z.string().transform((json) => FIELDS.parse(JSON.parse(json))),
  /** Idempotency key. */
  key: z.string(),
  /** Outcome in an earlier import. Null if the row wasn't sent, or its import was killed before the response. */
  outcome: OUTCOME.nullable(),
  /** Start of the import that sent it first, in milliseconds since 1970. */
  since: z.int(),
});

type ValidRow = { line: number; subscriber: SubscriberFields; text?: string | null };

type InvalidRow = { line: number; subscriberId?: string | undefined; text?: string | null };

/** Row that the check or the service has rejected, as it is written in the file. */
export type RejectedRow = z.output<typeof REJECTED_ROW>;
const REJECTED_ROW = z.object({ line: z.int(), text: z.string(), reasons: z.string() });

const ROW_COUNTS = z.record(OUTCOME, z.int());
const FIELDS = z.custom<SubscriberFields>(isRecord); // They were checked before they were stored.
const TARGET = z.object({ service: z.string(), environmentId: z.string().nullable() });

/** Identifies a results file (SQLite's `application_id`): the four letters NTGI. */
const APPLICATION_ID = 0x4e_54_47_49;

/** Code of rows that are `uncleared`. Version 1.0 doesn't know that outcome, so they are stored as `unknown`. */
const UNCLEARED = 'UNCLEARED';

/**
 * A row whose line is NULL is not in the file any more. An outcome of NULL is pending. The values of the rows are only in the table `subscribers`,
 * which is temporary: SQLite keeps it in memory or in a file without a name, which ends with the process. It has the order of the file, of which a
 * line can have several rows. Its invalid rows have reasons, but no id.
 *
 * Version 1.0 goes on with the file, so its tables `target`, `rows` and `problems` and the view keep their columns and values.
 */
const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE IF NOT EXISTS target (service TEXT NOT NULL, environmentId TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS rows (
    subscriberId TEXT PRIMARY KEY, line INTEGER, digest BLOB NOT NULL, key TEXT NOT NULL,
    outcome TEXT, code TEXT, message TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS problems (line INTEGER NOT NULL, subscriberId TEXT, message TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS sent (subscriberId TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
  CREATE TEMP TABLE subscribers (
    place INTEGER PRIMARY KEY, line INTEGER, subscriberId TEXT, fields TEXT, text TEXT, reasons TEXT, turn INTEGER
  ) STRICT;
  CREATE VIEW IF NOT EXISTS outcomes AS
    SELECT line, subscriberId, coalesce(outcome, 'pending') AS outcome, code, message FROM rows WHERE line IS NOT NULL
    UNION ALL SELECT line, subscriberId, 'invalid', NULL, message FROM problems;
  CREATE TEMP VIEW entries AS
    SELECT line, subscriberId, iif(code = '${UNCLEARED}', 'uncleared', outcome) AS outcome, nullif(code, '${UNCLEARED}') AS code, message FROM outcomes;
`;

/** Forgets the lines of the last import. Versions between 1.0 and this one stored outcomes that 1.0 doesn't know. */
const REMOVE_LINES = `
  UPDATE rows SET line = NULL,
    code = iif(outcome = 'uncleared', '${UNCLEARED}', code), outcome = iif(outcome = 'uncleared', 'unknown', outcome)`;

/** A row that has changed gets another key and is pending again. Nothing is returned for the second row of a subscriber. */
const ADD = `
  INSERT INTO rows (subscriberId, line, digest, key) VALUES (:subscriberId, :line, :digest, :key)
  ON CONFLICT DO UPDATE SET
    line = excluded.line,
    digest = excluded.digest,
    key = iif(digest IN (excluded.digest, :plain), key, excluded.key),
    outcome = iif(digest IN (excluded.digest, :plain), outcome, NULL),
    code = iif(digest IN (excluded.digest, :plain), code, NULL),
    message = iif(digest IN (excluded.digest, :plain), message, NULL)
  WHERE line IS NULL
  RETURNING key, outcome`;

/** Rows that were never sent have the first turn; those that the service has rejected, the last one. */
const KEEP = `
  INSERT INTO subscribers VALUES (NULL, ?, ?, ?, ?, ?, CASE ? WHEN 'failed' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END)`;

/** Rows that are read at a time. A longer read would keep SQLite from reusing its write-ahead log, which would grow with each outcome. */
const PAGE = 100;

const PAGE_ROWS = `
  FROM subscribers CROSS JOIN rows USING (subscriberId) LEFT JOIN sent USING (subscriberId)
  WHERE turn = :turn AND place > :last AND coalesce(outcome, 'pending') NOT IN ('created', 'updated')
  ORDER BY place LIMIT ${PAGE}`;
const NEXT_PAGE = `
  SELECT place, subscribers.line, fields AS subscriber, key, iif(code = '${UNCLEARED}', 'uncleared', outcome) AS outcome,
    coalesce(since, :since) AS since ${PAGE_ROWS}`;

/** Removes rows from the table `sent` of which the service has told what became of them. */
const FORGET_SENT = `
  DELETE FROM sent WHERE EXISTS (
    SELECT 1 FROM rows WHERE rows.subscriberId = sent.subscriberId AND outcome IN ('created', 'updated', 'failed'))`;

const REJECTED = `
  SELECT subscribers.line, coalesce(text, fields, '') AS text, coalesce(reasons, message || ' (' || code || ')') AS reasons
  FROM subscribers LEFT JOIN rows USING (subscriberId) WHERE reasons IS NOT NULL OR outcome = 'failed' ORDER BY place`;

/** Number of rows with each outcome. An invalid row can have several problems. */
const COUNTS = `
  SELECT ${OUTCOME.options.map((each) => `count(*) FILTER (WHERE outcome = '${each}') AS ${each}`).join(', ')} FROM (
    SELECT outcome FROM entries WHERE outcome <> 'invalid'
    UNION ALL SELECT 'invalid' FROM subscribers WHERE reasons IS NOT NULL)`;

/** Whether rows were not sent, or were in flight when the import was killed, which gives them no code. */
const HAS_UNSENT = `
  SELECT EXISTS (SELECT 1 FROM rows WHERE outcome IS NULL OR (outcome = 'unknown' AND code IS NULL))`;

/** Makes applied rows pending, with new keys: the first, which shows whether the environment is the same, or all. */
const SEND_AGAIN = `
  UPDATE rows SET outcome = NULL, key = hex(randomblob(16)) WHERE subscriberId IN (
    SELECT subscriberId FROM subscribers JOIN rows USING (subscriberId) WHERE outcome IN ('created', 'updated')
    ORDER BY place LIMIT ?)`;

const prepareStatements = (database: DatabaseSync) => ({
  add: database.prepare(ADD),
  lineOf: database.prepare('SELECT line FROM rows WHERE subscriberId = ?'),
  reject: database.prepare('INSERT INTO problems (line, subscriberId, message) VALUES (?, ?, ?)'),
  keep: database.prepare(KEEP),
  nextPage: database.prepare(NEXT_PAGE),
  forgetSent: database.prepare(FORGET_SENT),
  noteSent: database.prepare(`INSERT OR IGNORE INTO sent SELECT subscriberId, :since ${PAGE_ROWS}`),
  record: database.prepare('UPDATE rows SET outcome = ?, code = ?, message = ? WHERE subscriberId = ?'),
});

/** SQLite's codes for a file that another process has locked, and for one of another kind. */
const BUSY = 5;
const NOT_A_DATABASE = 26;

/** SQLite's codes for files that can't be written. */
const IO_ERROR = 10;
const FULL = 13;

/**
 * Results file of an import: a SQLite database with the rows of the file, their idempotency keys and outcomes, but none of their values besides the ids.
 * It is locked for other processes as long as it is open. What the check finds is one transaction that ends with `begin`, so nothing of an earlier
 * import is lost before; after it, each outcome is stored when `record` returns, so that killing the process loses none. A power failure can lose the
 * last ones. Their rows are sent again with the same keys.
 */
export class Results implements Disposable {
  readonly #path: string | undefined;
  readonly #database: DatabaseSync;
  #isNew = false;
  #isLocked = false;
  /** Whether the file stays when it is closed. */
  isKept = true;
  /** Environment of the earlier results; undefined if there are none, or the service has never told it. */
  #environmentId: string | undefined;
  #isConfirmed = false;
  /** In milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Key of the digests. A file that version 1.0 began has none, so that 1.0 finds its own digests. */
  #digestKey: KeyObject | undefined;
  /** Number of applied rows that are sent again if the service doesn't tell its environment. */
  #appliedToKeep = Number.POSITIVE_INFINITY;
  /** Number of rows of the last import. */
  earlier = 0;
  /** Number of rows that the last import didn't have, or had with other values. */
  changed = 0;
  /** Whether this import goes on with an interrupted restart. */
  isRestarting = false;

  /**
   * @param path path of the file; undefined for a temporary one
   * @param restarts whether to send rows again that are applied. An interrupted restart goes on instead
   * @param isDryRun whether to leave the file as it is, and compare the rows with a temporary copy
   * @throws {ConfigError} if it is another kind of file, which must not be overwritten
   */
  constructor(path: string | undefined, { restarts = false, isDryRun = false } = {}) {
    this.#path = isDryRun ? undefined : path;
    if (this.#path !== undefined) {
      prepareFile(this.#path);
    }
    this.#database = new DatabaseSync(this.#path ?? '', { timeout: 0 });
    try {
      this.#open();
      if (isDryRun && path !== undefined && existsSync(path)) {
        this.#copy(path);
      }
      this.#statements = prepareStatements(this.#database);
      this.#database.exec('BEGIN IMMEDIATE; DELETE FROM problems;');
      this.#prepareRows(restarts);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #number(sql: string): number {
    return z.int().parse(Object.values(this.#database.prepare(sql).get() ?? {})[0]);
  }

  /** Locks the file, and creates its tables. */
  #open(): void {
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE'); // Without shared memory, which some network file systems don't have.
    const id = this.#number('PRAGMA application_id');
    const isEmpty = id === 0 && this.#number('SELECT count(*) FROM sqlite_schema') === 0;
    if (!isEmpty && id !== APPLICATION_ID) {
      throw notResults(this.#path);
    }
    this.#database.exec('PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.#isLocked = this.#path !== undefined;
    this.#isNew = isEmpty; // Not before: another import could have begun at the same time.
    this.isKept = !(this.#isLocked && isEmpty);
    this.#database.exec(SCHEMA);
  }

  /** Copies what a results file has. If its import was killed, SQLite completes the file first. */
  #copy(path: string): void {
    this.#database.prepare('ATTACH ? AS earlier').run(`${pathToFileURL(resolve(path)).href}?mode=rw`);
    const tables = "SELECT name FROM earlier.sqlite_schema WHERE name IN ('rows', 'state')";
    for (const { name } of this.#database.prepare(tables).all()) {
      this.#database.exec(`INSERT INTO main.${name} SELECT * FROM earlier.${name}`);
    }
    this.#database.exec("DELETE FROM state WHERE name = 'rejected'; DETACH earlier;");
  }

  /** Prepares the rows of the last import to be compared with those of the file. A new restart begins without any. */
  #prepareRows(restarts: boolean): void {
    if (this.#number("SELECT count(*) FROM pragma_table_info('target')") === 3) {
      this.#database.exec('ALTER TABLE target DROP COLUMN startedAt'); // Of versions between 1.0 and this one.
    }
    if (this.#number('SELECT count(environmentId) FROM target') > 0) {
      this.#appliedToKeep = 1;
    }
    this.earlier = this.#number('SELECT count(*) FROM rows');
    if (this.earlier === 0) {
      this.remember('digestKey', randomBytes(16));
    }
    const key = this.recall('digestKey');
    this.#digestKey = key instanceof Uint8Array ? createSecretKey(key) : undefined;
    const hasUnsent = this.#number(HAS_UNSENT) === 1;
    this.isRestarting = hasUnsent && this.recall('isRestarting') === 1;
    this.remember('isRestarting', Number(restarts || this.isRestarting));
    if (restarts && !this.isRestarting) {
      this.earlier = 0;
      this.#database.exec('DELETE FROM rows; DELETE FROM sent; DELETE FROM target;');
    }
    this.#database.exec(REMOVE_LINES);
    this.#statements.forgetSent.run(); // Before rows that have changed lose their outcomes.
  }

  /** Returns what an import has stored with `remember`. */
  recall(name: string): unknown {
    return this.#database.prepare('SELECT value FROM state WHERE name = ?').get(name)?.value;
  }

  remember(name: string, value: SQLInputValue): void {
    this.#database.prepare('INSERT OR REPLACE INTO state VALUES (?, ?)').run(name, value);
  }

  /**
   * Adds a row of the file. Returns the line of an earlier one of the same subscriber; otherwise undefined.
   *
   * @param text the row as it is written in the file. @default its fields
   */
  add({ line, subscriber, text = null }: ValidRow): number | undefined {
    const { subscriberId } = subscriber;
    const key = randomUUID();
    const fields = JSON.stringify(subscriber);
    const plain = hash('sha256', fields, 'buffer');
    const digest = this.#digestKey
      ? createHmac('sha256', this.#digestKey).update(toCanonical(subscriber)).digest()
      : plain;
    const added = this.#statements.add.get({ subscriberId, line, digest, plain, key });
    if (added === undefined) {
      return Number(this.#statements.lineOf.get(subscriberId)?.line);
    }
    this.changed += Number(added.key === key);
    const isApplied = added.outcome === 'created' || added.outcome === 'updated';
    if (!isApplied || this.#appliedToKeep-- > 0) {
      this.#keep(line, subscriberId, fields, text === fields ? null : text, null, added.outcome ?? null);
    }
    return undefined;
  }

  /** Adds an invalid row. */
  reject({ line, subscriberId, text = null }: InvalidRow, reasons: readonly string[]): void {
    for (const reason of reasons) {
      this.#statements.reject.run(line, subscriberId ?? null, reason);
    }
    this.#keep(line, null, null, text, reasons.join(' '), null);
  }

  #keep(...row: SQLInputValue[]): void {
    try {
      this.#statements.keep.run(...row);
    } catch (error) {
      throw explainFileError(error, '', true);
    }
  }

  /** Returns the number of rows that only the last import had. */
  countGone = (): number => this.#number('SELECT count(*) FROM rows WHERE line IS NULL');

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
    this.#database.exec(`
      DELETE FROM rows WHERE line IS NULL;
      DELETE FROM sent WHERE subscriberId NOT IN (SELECT subscriberId FROM rows);
      DELETE FROM target;
    `);
    this.#database.prepare('INSERT INTO target VALUES (?, ?)').run(service, this.#environmentId ?? null);
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

  /**
   * Yields the rows that are not applied, each once: those that were never sent, those that may have been applied, and those that the service has
   * rejected before. Each group has the order of the file. Notes the rows before they are sent, so that one whose import is killed isn't taken for one
   * that somebody else has created.
   */
  *pending(): Generator<PendingRow, undefined> {
    for (const turn of [0, 1, 2]) {
      for (let last = -1, length = PAGE; length === PAGE; ) {
        const rows = this.#statements.nextPage.all({ turn, last, since: this.startedAt });
        this.#statements.forgetSent.run();
        this.#statements.noteSent.run({ turn, last, since: this.startedAt });
        length = rows.length;
        for (const each of rows) {
          const row = PENDING_ROW.parse(each);
          yield row;
          last = row.place;
        }
      }
    }
  }

  /** Stores the outcome of a row, also that of a try that may have been applied. @param outcome undefined if it was not sent after all */
  record(subscriberId: string, outcome: RowOutcome | undefined, failure?: { code?: string; message: string }): void {
    this.isKept = true; // Also if it can't be written: the row may be applied.
    const [stored, code] = outcome === 'uncleared' ? ['unknown', UNCLEARED] : [outcome, failure?.code];
    this.#statements.record.run(stored ?? null, code ?? null, failure?.message ?? null, subscriberId);
  }

  /** Returns an iterator of the rows to correct, in the order of the file. */
  rejected() {
    const rows = this.#database.prepare(REJECTED).iterate();
    return rows.map((row) => REJECTED_ROW.parse(row));
  }

  counts = (): Counts => ROW_COUNTS.parse(this.#database.prepare(COUNTS).get());

  /** Returns an iterator of the rows with these outcomes, in the order of the file. A row with several problems is there several times. */
  entries(outcomes: readonly RowOutcome[] = OUTCOME.options, limit = -1) {
    const sql = 'SELECT * FROM entries WHERE outcome IN (SELECT value FROM json_each(?)) ORDER BY line LIMIT ?';
    const rows = this.#database.prepare(sql).iterate(JSON.stringify(outcomes), limit);
    return rows.map((row) => ENTRY.parse(row));
  }

  /** Closes the file. A new one is removed if nothing was sent, so that the next import can use another key or address. */
  [Symbol.dispose](): void {
    try {
      if (this.#database.isTransaction) {
        this.#database.exec('ROLLBACK');
      }
      if (this.#isLocked) {
        // SQLite and version 1.0 leave ids of removed rows in unused parts of the file. Programs without write access can read a single file too.
        this.#database.exec(`${this.#isNew ? '' : 'PRAGMA synchronous = FULL; VACUUM;'} PRAGMA journal_mode = DELETE;`);
      }
    } catch {
      // The disk is full: what is stored stays in the write-ahead log. The error that ended the import must not be hidden.
    }
    this.#database.close();
    if (!this.isKept && this.#path !== undefined) {
      for (const end of ['', '-wal', '-journal']) {
        rmSync(`${this.#path}${end}`, { force: true });
      }
    }
  }
}

/** Returns JSON that doesn't depend on the order of members. */
const toCanonical = (fields: unknown): string =>
  JSON.stringify(fields, (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

/** Creates the file, or restricts it to its owner. */
function prepareFile(path: string): void {
  const file = openPrivateFile(path, constants.O_RDWR);
  orUndefined(() => fchmodSync(file, 0o600)); // Some file systems, such as FAT, have no modes.
  closeSync(file);
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
 * @param isTemporary whether SQLite was writing to temporary files. @default false
 */
export function explainFileError(error: unknown, results: string, isTemporary = false): unknown {
  if (!(error instanceof Error)) {
    return error;
  }
  const errcode = 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
  if (errcode === BUSY) {
    return new ConfigError([
      `Another import with the results file ${results} is running. Wait until it ends, or name another file with --results.`,
    ]);
  }
  if (errcode === NOT_A_DATABASE) {
    return notResults(results);
  }
  if (isTemporary && (errcode === FULL || errcode === IO_ERROR)) {
    const folders = [env.SQLITE_TMPDIR, env.TMPDIR, '/var/tmp', '/usr/tmp', '/tmp'];
    const folder = folders.find((each) => each && existsSync(each));
    return new ImportError(
      `Temporary files can't be written in ${folder}: ${error.message}. Free space there, or name another folder with the variable SQLITE_TMPDIR, and run the same command again.`,
      { cause: error },
    );
  }
  const path = errcode === undefined && 'path' in error ? String(error.path) : results;
  const file = path === results ? `results file ${results}` : `file ${path}`;
  const code = errorCodeOf(error);
  const symptom = code === 'ELOOP' ? 'it is a symbolic link' : /^E\w+: ([^,]+)/.exec(error.message)?.[1];
  const reason = errcode === undefined ? symptom : error.message;
  const cure = errcode === FULL || code === 'ENOSPC' ? `Free space in ${dirname(resolve(path))}` : 'Fix this';
  return reason === undefined
    ? error
    : new ImportError(`The ${file} can't be written: ${reason}. ${cure} and run the same command again.`, {
        cause: error,
      });
}
