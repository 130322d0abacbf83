import { type Dispatcher, Pool } from 'undici';

/** Limits of the connections to the upstream service; defaults from the service's measured behaviour, all in milliseconds. */
export interface DispatcherOptions {
  /** Sockets at most. @default 64 */
  connections?: number;
  /** For making one connection. @default 2000 */
  connectTimeoutMs?: number;
  /** From a request sent to its response headers. @default 5000 */
  headersTimeoutMs?: number;
  /** How long an idle socket is kept. Services close theirs after 5 s and more, so ours is shorter. @default 4000 */
  keepAliveTimeoutMs?: number;
}

/** The sockets to one origin. HTTP/1.1, no pipelining, redirects are not followed. Whoever creates it closes it. */
export const createDispatcher = (
  origin: string,
  {
    connections = 64,
    connectTimeoutMs = 2_000,
    headersTimeoutMs = 5_000,
    keepAliveTimeoutMs = 4_000,
  }: DispatcherOptions = {},
): Dispatcher =>
  new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    keepAliveMaxTimeout: keepAliveTimeoutMs,
  });
