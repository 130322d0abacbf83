import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readSecret } from '../settings/kinds.ts';
import type { MetricSamples } from '../telemetry/metrics.ts';
import type { Process } from './command.ts';
import type { Config } from './config/load-config.ts';
import { serveAdmin } from './serve-admin.ts';
import { untilStopped } from './until-stopped.ts';
import { WorkerGroup } from './workers/worker-group.ts';

/** Options of `serveWorkers`. */
interface ServeWorkersOptions {
  /** Number of workers. */
  count: number;
  /** Follows changes of the configuration from now on. */
  follow(apply: (config: Config) => Promise<void>): Disposable;
}

/** Log, process and metrics of the primary. */
interface PrimaryDeps {
  logger: Logger;
  host: Process;
  metrics(): MetricSamples[];
  /** Returns the configuration in use as JSON, without secrets. */
  describeConfig(): string;
}

/** Serves in workers until a signal stops them. They get the configuration from this process. */
export async function serveWorkers(
  config: Config,
  { count, follow }: ServeWorkersOptions,
  { logger, host, metrics, describeConfig }: PrimaryDeps,
): Promise<void> {
  // With the same secret, a tenant has the same name in the log lines of all workers.
  const logSecret = randomBytes(32).toString('hex');
  const forWorkers = (current: Config): Config => ({ logSecret, ...current, cache: withSecret(current.cache) });
  // Stops after the workers, so that health checks report the shutdown.
  await using admin = await serveAdmin(config, describeConfig);
  const configuration = forWorkers(config);
  await using workers = new WorkerGroup({ ...config, count, configuration, usage: host, metrics, logger });
  const url = await workers.start();
  admin?.answerWith({ alive: () => ({}), ready: () => workers.health(), metrics: () => workers.metrics() });
  {
    using _ = follow(async (next) => {
      await workers.configure(forWorkers(next));
      logger.level = next.logLevel;
    });
    const service = { url, adminUrl: admin?.url, checkUpstream: () => workers.checked, kill: () => workers.kill() };
    await untilStopped(config, { ...service, count, logger }, host);
  }
  if (await workers.close()) {
    host.exitCode = 1;
  }
}

/**
 * Returns the settings of the cache with the content of its secret's file. Workers with different secrets don't see each other's writes, so a
 * replacement must not read a newer file than the others did.
 */
const withSecret = (cache: Config['cache']): Config['cache'] =>
  cache && cache.secret !== undefined ? { ...cache, secret: readSecret('cacheSecret', cache.secret) } : cache;
