import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import type { GatewayOptions } from '../gateway.ts';
import { maxClientFiles } from '../http/open-files.ts';
import { createOverloadMonitor } from '../http/overload.ts';
import { startServer } from '../http/server.ts';
import { SANDBOX_KEYS } from '../sandbox/environments.ts';
import { formatMetrics } from '../telemetry/metrics-snapshot.ts';
import { processSnapshot } from '../telemetry/process-metrics.ts';
import type { Assignment } from './cluster/worker.ts';
import type { Host } from './commands/command.ts';
import type { Config } from './config/load-config.ts';

/** Gateway that listens. */
export interface RunningGateway {
  /** The GraphQL endpoint. */
  url: string;
  /** Returns why the upstream is unreachable; undefined if it is reachable. */
  checkUpstream(): Promise<string | undefined>;
}

// On demand: a primary has no gateway. Next to `await using`, the compiler wouldn't rewrite the path, which doesn't exist in the package.
const loadGateway = () => import('../gateway.ts');

/**
 * Keeps V8 from allocating objects in the old generation (pretenuring). It decides so in the first seconds, when the young generation is small
 * and in-flight requests survive its collections. Each such object would then keep everything it refers to alive until a full collection.
 */
const allocateYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** Log and process of a gateway. */
interface ServeDeps {
  logger: Logger;
  host: Host;
}

/** Starts a gateway and its server, and stops both when `use` ends. */
export async function serveGateway(
  config: Config,
  { upstream, port }: Assignment,
  { logger, host }: ServeDeps,
  use: (gateway: RunningGateway) => Promise<void>,
): Promise<void> {
  allocateYoung();
  const { createGateway } = await loadGateway();
  await using gateway = createGateway({ ...config.given, upstream, ...sandboxPage(config) }, { logger });
  using overload = createOverloadMonitor(config);
  await using server = await startServer({
    ...config,
    maxConnections: Math.min(config.maxConnections, maxClientFiles()),
    port,
    listener: gateway.listener,
    bufferedBytes: gateway.bufferedBytes,
    overload,
    metrics: config.metrics
      ? (load) => formatMetrics([[...gateway.metricsSnapshot(), ...processSnapshot(load, host)]])
      : undefined,
  });
  await use({ url: `${server.url}${gateway.endpoint}`, checkUpstream: gateway.checkUpstream });
}

/** Returns the sandbox's key, which everybody may use. The keys of a service are the callers'. */
export const sandboxAuthorization = ({ upstream }: Config): string | undefined =>
  upstream.kind === 'sandbox' ? `ApiKey ${SANDBOX_KEYS.development}` : undefined;

/** Returns the setting of a GraphiQL for the sandbox: with its key, which is public, unless only browsers' tokens are accepted. */
function sandboxPage(config: Config): Pick<GatewayOptions, 'graphiql'> {
  const authorization = sandboxAuthorization(config);
  if (config.graphiql !== true || authorization === undefined) {
    return {};
  }
  return { graphiql: { sandbox: true, ...(config.clients.server !== false && { authorization }) } };
}
