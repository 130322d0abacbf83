// The notification service without a server: its database, its operations and the page at `/`.

import { SandboxDatabase } from './database.ts';
import { DEVELOPMENT, type Environment, PRODUCTION, SANDBOX_KEYS } from './environments.ts';
import { createHandler } from './handler.ts';
import { IDEMPOTENCY_SCHEMA } from './idempotency.ts';
import { RateLimit } from './rate-limit.ts';
import { type FindRecord, type ReferredKind, toRecordRows } from './record-rows.ts';
import type { Records } from './records.ts';
import { resources } from './resources/index.ts';
import { createTopUp } from './resources/stats.ts';
import type { Respond, SandboxResponse } from './response.ts';
import { createRouter } from './router.ts';
import { integer, text } from './rows.ts';
import { type SampleEnvironment, toSampleRows } from './samples.ts';

/** Statements that create all tables. Their text identifies the version of a file. */
export const SCHEMA = [IDEMPOTENCY_SCHEMA, ...resources.map(({ schema = '' }) => schema)].join('');

/**
 * Opens the database file. In a new one, it creates the tables and adds the samples.
 *
 * @param samples sample records; if empty, resources get none at all
 * @param isReset whether all records of the file are replaced with the sample records
 */
export function openDatabase(
  file: string,
  clock: () => Date,
  samples: readonly SampleEnvironment[],
  isReset = false,
): SandboxDatabase {
  const writeSampleRecords = (database: SandboxDatabase) => {
    const sampleRows = samples.map((sample) => toSampleRows(sample, clock()));
    for (const { writeSamples, writeRecords } of samples.length === 0 ? [] : resources) {
      writeSamples?.(database, clock);
      for (const rows of sampleRows) {
        writeRecords?.(database, rows);
      }
    }
  };
  return new SandboxDatabase(file, SCHEMA, writeSampleRecords, isReset);
}

export interface Service extends Disposable {
  respond: Respond;
  /** Writes the sample traffic up to today, so that the first request for it doesn't. */
  topUp(): void;
  /** Adds records. @throws {TypeError} if one can't be written; then none is */
  add(environment: Environment, records: Records): void;
  /** Makes the current records those that `reset()` restores. Called once at most. */
  keep(): void;
  /** Restores the records of `keep()`, and forgets idempotency keys and rate limits. */
  reset(): void;
}

/**
 * Opens the database and creates the service on it.
 *
 * @throws {SandboxError} if the file can't be used
 */
export async function openService({
  file,
  rateLimit,
  clock,
  samples,
}: {
  /** SQLite file, or `:memory:`. */
  file: string;
  /** Requests per second that each API key can send, per category. */
  rateLimit: number;
  clock: () => Date;
  samples: readonly SampleEnvironment[];
}): Promise<Service> {
  const router = await createRouter();
  const database = openDatabase(file, clock, samples);
  let restore: (() => void) | undefined;
  const topUp = createTopUp(database, clock, samples);

  function start(): Respond {
    const operations = new Map(
      resources.flatMap(({ createHandlers }) => Object.entries(createHandlers(database, clock, topUp))),
    );
    return createHandler({
      database,
      router,
      rateLimit: new RateLimit(rateLimit, clock),
      operations,
      writePage: (host) => writePage(host, database),
      clock,
    });
  }

  let respond: Respond;
  try {
    respond = start();
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }

  return {
    respond: (request) => respond(request),
    topUp,
    add: (environment, records) => addRecords(database, records, environment, clock()),
    keep() {
      restore = takeSnapshot(database);
    },
    reset() {
      restore?.();
      respond = start();
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

const ENVIRONMENTS = [DEVELOPMENT, PRODUCTION];

/** Writes the page at `/` for a client that knows the sandbox by this host: the API keys, a request to try, and the records of each environment. */
const writePage = (host: string, database: SandboxDatabase): SandboxResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: `Notigraph sandbox

API keys, each with its own records:
${ENVIRONMENTS.map(({ name }) => `  ${SANDBOX_KEYS[name]}  ${name}`).join('\n')}

A notification service with sample data, for development and tests. It implements the /v1 REST API.

curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' 'http://${host}/v1/notification-groups'
${ENVIRONMENTS.map((environment) => writeRecordLists(environment, database)).join('')}`,
});

function writeRecordLists({ id, name }: Environment, database: SandboxDatabase): string {
  const lists = resources.flatMap(({ recordList }) => {
    const rows = recordList === undefined ? [] : database.prepare(recordList.sql).all(id);
    const lines = rows.map((row) => `  ${text(row, 'id')}  ${text(row, 'label')}`);
    return recordList === undefined ? [] : ['', recordList.title, ...(lines.length === 0 ? ['  None.'] : lines)];
  });
  return [``, `# ${name}, API key ${SANDBOX_KEYS[name]}`, ...lists, ''].join('\n');
}

/** Copies all records. Returns the function that restores them, which takes no time if nothing was written. A database can have one snapshot. */
function takeSnapshot(database: SandboxDatabase): () => void {
  const countChanges = () => integer(database.prepare('SELECT total_changes() AS changes').get() ?? {}, 'changes');
  database.prepare("ATTACH ':memory:' AS snapshot").run();
  const tables = database.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'").all();
  const copies = tables.map((row) => {
    const table = `"${text(row, 'name')}"`;
    // Without generated columns, which can't be written.
    const columns = database.prepare(`PRAGMA main.table_info(${table})`).all();
    const names = columns.map((column) => `"${text(column, 'name')}"`).join(', ');
    database.prepare(`CREATE TABLE snapshot.${table} AS SELECT ${names} FROM main.${table} ORDER BY rowid`).run();
    return {
      clear: `DELETE FROM main.${table}`,
      fill: `INSERT INTO main.${table} (${names}) SELECT ${names} FROM snapshot.${table} ORDER BY rowid`,
    };
  });
  let changes = countChanges();
  return () => {
    if (countChanges() !== changes) {
      database.transaction(() => {
        for (const { clear, fill } of copies) {
          database.prepare(clear).run();
          database.prepare(fill).run();
        }
      });
      changes = countChanges();
    }
  };
}

const QUERIES: Readonly<Record<ReferredKind, string>> = {
  group: 'SELECT id FROM notification_groups WHERE environment_id = :environment AND :key IN (id, name)',
  feed: 'SELECT id FROM feeds WHERE environment_id = :environment AND :key IN (id, name)',
  workflow: 'SELECT id FROM workflows WHERE environment_id = :environment AND :key IN (id, identifier)',
};

/** Writes records of one environment. @throws {TypeError} if one can't be written; then none is */
function addRecords(database: SandboxDatabase, records: Records, environment: Environment, now: Date): void {
  const find: FindRecord = (kind, key) => {
    const row = database.prepare(QUERIES[kind]).get({ environment: environment.id, key });
    return row && text(row, 'id');
  };
  const rows = toRecordRows(records, environment, now, find);
  try {
    database.transaction(() => {
      for (const resource of resources) {
        resource.writeRecords?.(database, rows);
      }
    });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('UNIQUE constraint failed')) {
      const column = error.message.slice(error.message.lastIndexOf(' ') + 1); // The last one; others are of the environment.
      throw new TypeError(`A record with the same ${column.split('.').at(-1)} already exists (${column}).`, {
        cause: error,
      });
    }
    throw error;
  }
}
