import type { Settings } from '../../settings/settings.ts';
import { type Connect, type ConnectorOptions, createConnector } from './connector.ts';
import { type ResponseBuffer, SocketPool } from './socket-pool.ts';

/** Settings of the connections to the service. */
export type SocketPoolSettings = Pick<
  Settings,
  | 'sockets'
  | 'isolateConnections'
  | 'connectTimeoutMs'
  | 'headersTimeoutMs'
  | 'maxBufferedBytes'
  | 'socketIdleMs'
  | 'proxy'
>;

/** Dependencies of a socket pool. */
export interface SocketPoolDeps extends Omit<ConnectorOptions, 'timeoutMs' | 'proxy'> {
  /** Bytes of responses. @default counted for this pool only */
  buffer?: ResponseBuffer;
  /** Opens connections. @default over the network, as the settings say */
  connect?: Connect | undefined;
}

/** Creates the function that opens connections to the service, as the settings say. */
export const createServiceConnector = (
  { connectTimeoutMs, proxy }: Pick<Settings, 'connectTimeoutMs' | 'proxy'>,
  connecting: Omit<ConnectorOptions, 'timeoutMs' | 'proxy'>,
) =>
  createConnector({
    ...connecting,
    timeoutMs: connectTimeoutMs,
    proxy: proxy === undefined || proxy === 'off' ? undefined : new URL(proxy),
  });

/** Creates the socket pool of one origin. It uses HTTP/1.1 without pipelining and follows no redirects. Close it to end its connections. */
export function createSocketPool(
  origin: string,
  settings: SocketPoolSettings,
  { buffer = { bytes: 0, maxBytes: settings.maxBufferedBytes }, connect, ...connecting }: SocketPoolDeps = {},
): SocketPool {
  const { sockets, isolateConnections, headersTimeoutMs, socketIdleMs } = settings;
  return new SocketPool(origin, {
    connections: sockets,
    connect: connect ?? createServiceConnector(settings, connecting),
    buffer,
    isIsolated: isolateConnections === 'credential',
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: socketIdleMs,
    keepAliveMaxTimeout: socketIdleMs,
  });
}
