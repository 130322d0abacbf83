import { SocketPool } from './socket-pool.ts';

/** Limits of the connections to the upstream service; defaults from the service's measured behaviour, all in milliseconds. */
export interface DispatcherOptions {
  /** Sockets at most. @default 64 */
  connections?: number;
  /**
   * When a socket may be reused: `none` for any credential, `credential` only for the one it was opened for. The limit of `connections`
   * holds for all credentials together. @default 'none'
   */
  isolate?: 'none' | 'credential';
  /** For making one connection. @default 2000 */
  connectTimeoutMs?: number;
  /** From a request sent to its response headers. @default 5000 */
  headersTimeoutMs?: number;
  /** Maximum bytes of response bodies that are being received, for all sockets together. @default 64 MiB */
  maxBufferedBytes?: number;
  /** How long an idle socket is kept. Services close theirs after 5 s and more, so ours is shorter. @default 4000 */
  keepAliveTimeoutMs?: number;
}

/**
 * Creates the sockets to one origin. HTTP/1.1, no pipelining, redirects are not followed. Whoever creates it closes it.
 *
 * @throws {TypeError} if a value would leave requests without a socket or without the isolation that was asked for
 */
export function createDispatcher(
  origin: string,
  {
    connections = 64,
    isolate = 'none',
    connectTimeoutMs = 2_000,
    headersTimeoutMs = 5_000,
    maxBufferedBytes = 64 * 1024 * 1024,
    keepAliveTimeoutMs = 4_000,
  }: DispatcherOptions = {},
): SocketPool {
  if (!Number.isInteger(connections) || connections < 1) {
    throw new TypeError('connections.connections must be a whole number of 1 or more.');
  }
  if (!['none', 'credential'].includes(isolate)) {
    throw new TypeError('connections.isolate must be none or credential.');
  }
  return new SocketPool(origin, {
    connections,
    connectTimeoutMs,
    maxBufferedBytes,
    isIsolated: isolate === 'credential',
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    keepAliveMaxTimeout: keepAliveTimeoutMs,
  });
}
