// Serves in several processes: the primary, which starts the workers, and one of these workers.

import { randomBytes } from 'node:crypto';
import { readSecret } from '../../../../src/settings/kinds.ts';
import type { Process } from '../command.ts';
import type { Config } from '../config/load-config.ts';
import { explainFailure } from '../explain-failure.ts';
import { createLogger } from '../logger.ts';
import { START_REPLY_MS, type WorkerRole } from '../workers/worker.ts';
import { WorkerGroup } from '../workers/worker-group.ts';
import { serveAdmin } from './serve-admin.ts';
import { type ServeDeps, type ServedGateway, serveGateway } from './serve-gateway.ts';

/** Starts workers, and stops them when `use` ends. They get the configuration from this process. */
export async function serveWorkers(
  config: Config,
  count: number,
  { logger, host, metrics, describeConfig }: Required<Omit<ServeDeps, 'role'>>,
  use: (gateway: ServedGateway) => Promise<void>,
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
  await use({
    url,
    adminUrl: admin?.url,
    checkUpstream: () => workers.checked,
    kill: () => workers.kill(),
    async apply(next) {
      await workers.configure(forWorkers(next));
      logger.level = next.logLevel;
    },
  });
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

/** Serves as one of several workers, until the primary stops it or lets it retire. The primary also sends its configuration. */
export async function runWorker(role: WorkerRole, host: Process): Promise<void> {
  host.on('SIGINT', () => {}); // A terminal sends it to the primary too, which tells the first from the second.
  host.on('SIGTERM', () => void role.primary.tell('terminated', undefined)); // The primary knows whether others stay.
  try {
    const config = await Promise.race([role.primary.call('configuration', undefined, START_REPLY_MS), role.stopped]);
    if (config !== undefined) {
      await serveAsWorker(config, role, host);
    }
  } catch (error) {
    const { message, exitCode } = explainFailure(error);
    await role.primary.tell('refused', message);
    host.exitCode = exitCode;
  }
  await role.leave();
}

async function serveAsWorker(config: Config, role: WorkerRole, host: Process): Promise<void> {
  const logger = createLogger(config, host, host.stdout);
  await serveGateway(config, { role, logger, host }, async (service, server) => {
    await role.primary.tell('listening', service.url);
    if (role.id === 1) {
      await role.primary.tell('checked', await Promise.race([service.checkUpstream(), role.stopped]));
    }
    await Promise.race([role.retired.then(server.retire), role.stopped]);
  });
}
