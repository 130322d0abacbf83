// Serves health checks, metrics and the configuration on a separate port.

import { createKnownHosts } from '../../../../src/http/head.ts';
import { isLoopbackHost } from '../../../../src/lib/urls.ts';
import type { Config } from '../config/load-config.ts';
import { createProbeListener, type Probes } from '../server/health.ts';
import { startServer } from '../server/server.ts';

/** Limits of the separate port. A few probes and scrapers use it. */
const LIMITS = { maxConnections: 100, maxInFlightRequests: 50, drainTimeoutMs: 1_000 };

/**
 * Serves health checks, metrics and the configuration on a separate port, if one is set.
 *
 * @param describeConfig returns the configuration in use as JSON, without secrets
 * @throws {ListenError}
 */
export async function serveAdmin(
  config: Pick<Config, 'adminHost' | 'adminPort' | 'hosts' | 'upstreams'>,
  describeConfig: () => string,
) {
  const { adminHost: host, adminPort: port } = config;
  if (port === undefined) {
    return undefined;
  }
  let probes: Probes = { alive: () => ({}), ready: () => ({ problem: 'starting' }), metrics: async () => '' };
  const listener = createProbeListener(() => probes, describeConfig);
  const server = await startServer({
    ...LIMITS,
    ...{ host, port, portOption: '--admin-port', listener, probes: () => undefined },
    ...(isLoopbackHost(host) && { isKnownHost: createKnownHosts(config) }),
  });
  return {
    url: server.url,
    /** Answers with these probes from now on. Before, the gateway is not ready. */
    answerWith(current: Probes): void {
      probes = current;
    },
    [Symbol.asyncDispose]: server.close,
  };
}
