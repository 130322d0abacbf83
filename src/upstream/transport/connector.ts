import { buildConnector } from 'undici';
import { memoizeBySource } from '../../lib/memoize.ts';
import type { Settings } from '../../settings/settings.ts';
import { openTunnel, ProxyError } from './proxy-tunnel.ts';
import type { TlsFiles } from './tls-files.ts';

/** Function that opens a connection to the service. */
export type Connect = buildConnector.connector;

/** Options of `createConnector`. */
export interface ConnectorOptions {
  /** Certificates of TLS connections. @default those of Node.js, and no client certificate */
  tls?: TlsFiles | undefined;
  /** Called after each attempt to open a tunnel, with the reason if it failed. @default none */
  onTunnel?: ((problem: string | undefined) => void) | undefined;
}

/** Time limit for opening a connection, in milliseconds: a lost packet is repeated after 1 s (RFC 6298), and a retry still fits into the operation. */
const TIMEOUT_MS = 2_000;

/**
 * Creates the function that opens connections to the service: directly, or through a proxy. The time limit applies to the tunnel and to TLS one after
 * the other.
 */
export function createConnector(
  { proxy: address }: Pick<Settings, 'proxy'>,
  { tls, onTunnel }: ConnectorOptions,
): Connect {
  const proxy = address === undefined || address === 'off' ? undefined : new URL(address);
  const build = (secureContext?: object) => {
    const options: Partial<buildConnector.BuildOptions> = {
      allowH2: false,
      timeout: TIMEOUT_MS,
      ...(secureContext && { secureContext }),
    };
    return buildConnector(options as buildConnector.BuildOptions); // The types require a port, which is passed with each call.
  };
  // A connector resumes TLS sessions. New certificates get a new one, because a resumed session has the old client certificate.
  const connectors = memoizeBySource(
    () => tls?.current(),
    (contexts) => ({ toService: build(contexts?.service), toProxy: build(contexts?.proxy) }),
  );
  if (proxy === undefined) {
    return (options, callback) => connectors().toService(options, callback);
  }

  return (options, callback) => {
    const { toService, toProxy } = connectors();
    openTunnel(options, { proxy, connect: toProxy, timeoutMs: TIMEOUT_MS }).then(
      (tunnel) => {
        onTunnel?.(undefined);
        if (options.protocol === 'https:') {
          toService({ ...options, httpSocket: tunnel }, callback);
        } else {
          callback(null, tunnel);
        }
      },
      (error: unknown) => {
        const failure = error instanceof Error ? error : new Error('the tunnel failed');
        if (failure instanceof ProxyError) {
          onTunnel?.(failure.message);
        }
        callback(failure, null);
      },
    );
  };
}
