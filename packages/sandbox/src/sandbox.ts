// Starts the sandbox: the notification service's REST API with sample data, on a port.

import { assertSandboxFile, assertUsable } from './database.ts';
import { DEFAULT_RATE_LIMIT } from './rate-limit.ts';
import { createTopUp } from './resources/stats.ts';
import { SAMPLES } from './samples.ts';
import { type RunningServer, startServer } from './server.ts';
import { openDatabase, openService, SCHEMA } from './service.ts';
import { respondWithTraits, type TraitName } from './traits.ts';

export { assertSandboxFile } from './database.ts';
export { SANDBOX_KEYS } from './environments.ts';
export { SandboxError } from './errors.ts';

export interface SandboxOptions {
  /** SQLite file. It is created if it does not exist, together with its folder. @default ':memory:' */
  file?: string;
  /** Address to listen on. @default '127.0.0.1' */
  host?: string;
  /** Port to listen on. 0 picks a free one. @default 0 */
  port?: number;
  /** Requests per second that each API key can send, per category. @default 100_000, which no client reaches */
  rateLimit?: number;
  /** Returns the current time, used for timestamps and for the last day of the sample statistics. @default () => new Date() */
  now?: () => Date;
  /** Behaviors of real services. @default none */
  traits?: readonly TraitName[];
}

export interface Sandbox extends AsyncDisposable {
  /** Base URL without a trailing slash, such as `http://127.0.0.1:4010`. */
  readonly url: string;
  /** Stops accepting requests, finishes in-flight requests, and closes the database. */
  close(): Promise<void>;
}

/**
 * Starts a notification service with sample data: the REST API over HTTP, stored in SQLite.
 *
 * @throws {SandboxError} if the file or the port can't be used
 */
export async function startSandbox({
  file = ':memory:',
  host = '127.0.0.1',
  port = 0,
  rateLimit = DEFAULT_RATE_LIMIT,
  now: clock = () => new Date(),
  traits = [],
}: SandboxOptions = {}): Promise<Sandbox> {
  const active = new Map(traits.map((name) => [name, new Set()]));
  const service = await openService({ file, rateLimit, clock, samples: SAMPLES, traits: active });
  let server: RunningServer;
  try {
    server = await startServer((request) => respondWithTraits(active, request, service.respond), host, port);
  } catch (error) {
    service[Symbol.dispose]();
    throw error;
  }

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close().finally(() => service[Symbol.dispose]());
    return closed;
  };
  return { url: server.url, close, [Symbol.asyncDispose]: close };
}

/**
 * Checks that a sandbox could use a file, which may not exist yet.
 *
 * @throws {SandboxError} otherwise. The file is left unchanged
 */
export const checkSandboxFile = (file: string): void => assertUsable(file, SCHEMA);

/**
 * Replaces all records of a sandbox's file by the sample records. A sandbox that is using the file shows them at once.
 *
 * @throws {SandboxError} if the file is not the database of a sandbox of any version, or can't be used
 */
export function resetSandbox(file: string): void {
  assertSandboxFile(file);
  const clock = () => new Date();
  using database = openDatabase(file, clock, SAMPLES, true);
  createTopUp(database, clock, SAMPLES)();
}
