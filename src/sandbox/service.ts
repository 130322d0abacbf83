import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { createHandler } from './handler.ts';
import { Idempotency } from './idempotency.ts';
import { createLandingPage } from './landing-page.ts';
import { openDatabase } from './open-database.ts';
import { createOperations } from './operations.ts';
import { RateLimit } from './rate-limit.ts';
import type { SampleEnvironment } from './records/definition.ts';
import type { Records } from './records/records.ts';
import { resources } from './resources/index.gen.ts';
import { createResponder, type Respond } from './responder.ts';
import { createRouter } from './router.ts';
import { takeSnapshot } from './snapshot.ts';
import { writeRecords } from './write-records.ts';

/** Options of `createService`. */
export interface ServiceOptions {
  /** SQLite file, or `:memory:`. */
  file: string;
  /** Requests per second that each API key can send. */
  rateLimit: number;
  clock: Clock;
  samples: readonly SampleEnvironment[];
}

/** Notification service without a server. */
export interface Service extends Disposable {
  /** Responds to a request. */
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

/** Opens the database and creates the service on it. @throws {SandboxError} if the file can't be used */
export async function openService({ file, rateLimit, clock, samples }: ServiceOptions): Promise<Service> {
  const router = await createRouter();
  const database = openDatabase(file, resources, clock, samples);
  let snapshot: ReturnType<typeof takeSnapshot> | undefined;
  let respond: Respond;
  try {
    respond = start(database);
  } catch (error) {
    database.close();
    throw error;
  }

  function start(opened: SandboxDatabase): Respond {
    const operations = createOperations(resources, router.operationIds(), opened, clock, samples);
    const handle = createHandler({
      database: opened,
      router,
      idempotency: new Idempotency(opened),
      rateLimit: new RateLimit(rateLimit, clock),
      operations,
      landingPage: createLandingPage(resources, opened),
      clock,
    });
    return createResponder(handle, clock);
  }

  return {
    respond: (request) => respond(request),
    topUp() {
      for (const { topUpSamples } of resources) {
        topUpSamples?.(database, clock, samples);
      }
    },
    add: (environment, records) => writeRecords(database, resources, records, environment, clock()),
    keep() {
      snapshot = takeSnapshot(database);
    },
    reset() {
      snapshot?.restore();
      respond = start(database);
    },
    [Symbol.dispose]: () => database.close(),
  };
}
