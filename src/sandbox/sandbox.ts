import type { Clock } from './clock.ts';
import { SandboxDatabase } from './database.ts';
import { createHandler } from './handler.ts';
import { Idempotency } from './idempotency.ts';
import { MIGRATIONS } from './migrations.ts';
import { createOperations } from './operations.ts';
import { createRouter } from './router.ts';
import { writeSampleRecords } from './sample/records.ts';
import { SampleTraffic } from './sample/traffic.ts';
import { type RunningServer, startServer } from './server.ts';

export { SANDBOX_KEYS } from './environments.ts';
export { SandboxError } from './errors.ts';

export interface SandboxOptions {
  /** SQLite file; created when missing, together with its folder. @default ':memory:' */
  file?: string;
  /** @default '127.0.0.1' */
  host?: string;
  /** 0 picks a free port. @default 0 */
  port?: number;
  /** The current time, for timestamps and for how far the sample statistics reach. @default () => new Date() */
  now?: Clock;
}

export interface Sandbox extends AsyncDisposable {
  /** Base address, e.g. http://127.0.0.1:4010 (no trailing slash) */
  readonly url: string;
  /** Stops accepting, finishes what runs, closes the database. */
  close(): Promise<void>;
}

/**
 * Starts an embedded notification service: the twelve endpoints over HTTP, with sample data, kept in SQLite.
 * @throws SandboxError when the file or the port cannot be used
 */
export async function startSandbox({
  file = ':memory:',
  host = '127.0.0.1',
  port = 0,
  now: clock = () => new Date(),
}: SandboxOptions = {}): Promise<Sandbox> {
  const router = await createRouter();
  const database = new SandboxDatabase(file, {
    migrations: MIGRATIONS,
    onUpgrade: (upgraded, from) => from === 0 && writeSampleRecords(upgraded, clock),
  });
  let server: RunningServer;
  try {
    const traffic = new SampleTraffic(database, clock);
    traffic.topUp();
    const operations = createOperations(database, clock, traffic);
    const idempotency = new Idempotency(database);
    server = await startServer(createHandler({ database, router, idempotency, operations, clock }), clock, host, port);
  } catch (error) {
    database.close();
    throw error;
  }

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close().finally(() => database.close());
    return closed;
  };
  return { url: server.url, close, [Symbol.asyncDispose]: close };
}
