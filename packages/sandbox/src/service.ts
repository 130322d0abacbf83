// The notification service without a server.

import { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { createHandler } from './handler.ts';
import { IDEMPOTENCY_SCHEMA } from './idempotency.ts';
import type { AllRecords, Records } from './records.ts';
import { resources } from './resources/index.ts';
import { createTopUp } from './resources/stats.ts';
import type { Respond } from './response.ts';
import { openRouter } from './router.ts';
import type { SampleEnvironment } from './samples.ts';
import type { ActiveTraits } from './traits.ts';

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
  const writeSamples = (database: SandboxDatabase) => {
    for (const resource of samples.length === 0 ? [] : resources) {
      resource.writeSamples?.(database, clock);
    }
    for (const sample of samples) {
      writeRecords(database, sample, sample.environment, clock());
    }
  };
  return new SandboxDatabase(file, SCHEMA, writeSamples, isReset);
}

export interface Service extends Disposable {
  respond: Respond;
  /** Adds records. @throws {TypeError} if one can't be written; then none is */
  add(environment: Environment, records: Records): void;
  /** Makes the current records those that `reset()` restores. Called once at most, and only for a database in memory. */
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
  traits,
}: {
  /** SQLite file, or `:memory:`. */
  file: string;
  /** Requests per second that each API key can send, per category. */
  rateLimit: number;
  clock: () => Date;
  samples: readonly SampleEnvironment[];
  /** Those that operations know themselves. `respondWithTraits` applies the others. */
  traits: ActiveTraits;
}): Promise<Service> {
  const router = await openRouter();
  const database = openDatabase(file, clock, samples);
  const dispose = () => database[Symbol.dispose]();
  try {
    const topUp = createTopUp(database, clock, samples);
    const start = () => createHandler({ database, router, rateLimit, clock, topUp, traits });
    let respond = start();
    return {
      respond: (request) => respond(request),
      add: (environment, records) => writeRecords(database, records, environment, clock()),
      keep: () => database.keep(),
      reset() {
        database.restore();
        respond = start();
      },
      [Symbol.dispose]: dispose,
    };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** Writes records of one environment. @throws {TypeError} if one can't be written; then none is */
function writeRecords(database: SandboxDatabase, records: AllRecords, environment: Environment, time: Date): void {
  const now = time.toISOString();
  try {
    database.transaction(() => {
      for (const resource of resources.toReversed()) {
        resource.writeRecords?.(database, records, { environment, now });
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
