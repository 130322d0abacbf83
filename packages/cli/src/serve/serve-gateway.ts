// Serves a gateway in this process, and replaces it when the configuration changes.

import type { RequestListener } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { toLoggedError } from '../../../../src/errors/logged-error.ts';
import type { Gateway } from '../../../../src/gateway.ts';
import { createKnownHosts } from '../../../../src/http/head.ts';
import { isLoopbackHost } from '../../../../src/lib/urls.ts';
import { formatMetrics, type MetricSamples } from '../../../../src/telemetry/metrics.ts';
import type { Process } from '../command.ts';
import type { Config } from '../config/load-config.ts';
import { loadModules } from '../config/load-modules.ts';
import { logUndeclaredCalls } from '../logger.ts';
import type { Probes } from '../server/health.ts';
import { createOverloadMonitor } from '../server/load-shedding.ts';
import { maxClientFiles } from '../server/process-limits.ts';
import { processSnapshot, type ServerLoad } from '../server/process-metrics.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import { START_REPLY_MS, type WorkerRole } from '../workers/worker.ts';
import { serveAdmin } from './serve-admin.ts';

/** Gateway that listens, in this process or in workers. */
export interface ServedGateway {
  /** The GraphQL endpoint. */
  url: string;
  /** Address of the separate port for health checks and metrics. @default none */
  adminUrl?: string | undefined;
  /** Returns why the upstream is unreachable; undefined if it is reachable. */
  checkUpstream(): Promise<string | undefined>;
  /** Handles new requests with another configuration. If it can't be used, throws and changes nothing. */
  apply(config: Config): Promise<void>;
  /** Ends the workers immediately. @default there are none */
  kill?(): void;
}

// On demand: a primary has no gateway. Next to `await using`, the compiler wouldn't rewrite the path, which doesn't exist in the package.
const loadGateway = () => import('../../../../src/gateway.ts');

/**
 * Flag that keeps V8 from allocating objects in the old generation (pretenuring). It decides so in the first seconds, when the young generation is small
 * and in-flight requests survive its collections. Each such object would then keep everything it refers to alive until a full collection.
 */
const ALLOCATE_YOUNG = '--no-allocation-site-pretenuring';

export interface ServeDeps {
  /** This process as a worker. @default none: it serves on its own */
  role?: WorkerRole;
  logger: Logger;
  host: Process;
  /** Returns metrics of the process besides those of the gateway. @default none */
  metrics?: () => MetricSamples[];
  /** Returns the configuration in use as JSON, without secrets. @default empty, for workers */
  describeConfig?: () => string;
}

/** Starts a gateway and its server, and stops both when `use` ends. */
export async function serveGateway(
  config: Config,
  { role, logger, host, metrics = () => [], describeConfig = () => '' }: ServeDeps,
  use: (gateway: ServedGateway, server: RunningServer) => Promise<void>,
): Promise<void> {
  setFlagsFromString(ALLOCATE_YOUNG);
  // A promise that the code of a module doesn't await must not end the process.
  host.on('unhandledRejection', (error) => logger.error({ err: toLoggedError(error) }, 'unexpected error'));
  // Any other error ends it. Node.js would print all members of the error.
  host.on('uncaughtException', (error) => {
    logger.fatal({ err: toLoggedError(error) }, 'unexpected error');
    host.exit(1);
  });
  const { buildGateway, createGatewayState } = await loadGateway();
  const state = createGatewayState(logger);
  const build = async (current: Config) => {
    const modules = await loadModules(current);
    return buildGateway(current, { logger, ...logUndeclaredCalls(current, logger) }, state, { modules });
  };
  await using gateways = createGenerations(await build(config));
  await gateways.current().connected(); // Before requests arrive, so that none is counted by this process only.
  const samples = (load: ServerLoad): MetricSamples[] => [
    ...gateways.current().metricsSnapshot(),
    ...processSnapshot(load, host),
    ...metrics(),
  ];
  // Stops after the server, so that health checks report the shutdown. Workers have none; their primary does.
  await using admin = role === undefined ? await serveAdmin(config, describeConfig) : undefined;
  using overload = createOverloadMonitor(config);
  const maxConnections = Math.min(config.maxConnections, maxClientFiles());
  if (maxConnections < config.maxConnections) {
    const message =
      'fewer clients can connect than maxConnections, because of the limit of open files; raise it (ulimit -n)';
    logger.warn({ maxConnections }, message);
  }
  let isKnownHost = createKnownHosts(config);
  await using server = await startServer({
    ...config,
    ...(role && {
      port: await role.primary.call('port', undefined, START_REPLY_MS),
      // The connections that are established arrive before the reply. If the primary has ended, no more will come.
      connectionsArrived: () => role.primary.call('connectionsArrived', undefined).catch(() => {}),
    }),
    maxConnections,
    // In production, a proxy on this machine passes on the host that its client used.
    ...(isLoopbackHost(config.host) && !config.isProduction && { isKnownHost: (host) => isKnownHost(host) }),
    listener: gateways.listener,
    bufferedBytes: gateways.bufferedBytes,
    isNeverShed: (request) => gateways.current().isPage(request),
    refusalHeaders: (request) => gateways.current().refusalHeaders(request),
    degradations: () => gateways.current().degradations(),
    overload,
    logger,
    metrics: (load) => formatMetrics([samples(load)]),
    onCutOff: (requests) =>
      logger.warn(
        { requests, drainTimeoutMs: config.drainTimeoutMs },
        'requests were cut off at shutdown, because they were not finished within drainTimeoutMs',
      ),
    probes: (own) => (config.adminPort !== undefined ? undefined : role === undefined ? own : probesOf(role, own)),
  });
  admin?.answerWith(server.probes);
  role?.watch(() => ({
    connections: server.load().connections,
    problem: server.problem(),
    degradations: gateways.current().degradations(),
    samples: samples(server.load()),
  }));
  const service: ServedGateway = {
    url: `${server.url}${gateways.current().endpoint}`,
    adminUrl: admin?.url,
    checkUpstream: () => gateways.current().checkUpstream(),
    async apply(next) {
      const { level } = logger;
      logger.level = next.logLevel; // A gateway reads it when it is created.
      try {
        gateways.replace(await build(next));
        isKnownHost = createKnownHosts(next);
      } catch (error) {
        logger.level = level;
        throw error;
      }
    },
  };
  await use(service, server);
}

/** Returns the health checks and metrics of the group in place of a worker's own. */
const probesOf = ({ primary }: WorkerRole, own: Probes): Probes => ({
  async alive() {
    await primary.call('health', undefined); // Fails if the primary doesn't answer.
    return {};
  },
  async ready() {
    const { problem } = await own.ready();
    return problem === 'stopping' ? { problem } : primary.call('health', undefined);
  },
  metrics: () => primary.call('metrics', undefined),
});

/** Keeps the gateway that handles new requests, and those that it replaced, until their requests have ended. Disposes all of them. */
function createGenerations(first: Gateway) {
  let current = first;
  const disposals = new Map<Gateway, Promise<void>>();

  const dispose = (gateway: Gateway) => gateway.dispose().finally(() => disposals.delete(gateway));
  const listener: RequestListener = (request, response) => current.listener(request, response);
  return {
    listener,
    current: () => current,
    /** Returns the bytes of upstream responses that any of the gateways is receiving. */
    bufferedBytes: () => [current, ...disposals.keys()].reduce((sum, gateway) => sum + gateway.bufferedBytes(), 0),
    /** Replaces the current gateway. Its requests finish on it. */
    replace(next: Gateway) {
      disposals.set(current, dispose(current));
      current = next;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([dispose(current), ...disposals.values()]);
    },
  };
}
