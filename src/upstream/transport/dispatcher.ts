import type { Settings } from '../../settings/settings.ts';
import { SocketPool } from './socket-pool.ts';

/** Settings of the connections to the service. */
export type DispatcherSettings = Pick<
  Settings,
  'sockets' | 'isolateConnections' | 'connectTimeoutMs' | 'headersTimeoutMs' | 'maxBufferedBytes' | 'socketIdleMs'
>;

/** Creates the socket pool of one origin. It uses HTTP/1.1 without pipelining and follows no redirects. Whoever creates it closes it. */
export function createDispatcher(
  origin: string,
  {
    sockets,
    isolateConnections,
    connectTimeoutMs,
    headersTimeoutMs,
    maxBufferedBytes,
    socketIdleMs,
  }: DispatcherSettings,
): SocketPool {
  return new SocketPool(origin, {
    connections: sockets,
    connectTimeoutMs,
    maxBufferedBytes,
    isIsolated: isolateConnections === 'credential',
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: socketIdleMs,
    keepAliveMaxTimeout: socketIdleMs,
  });
}
