import cluster from 'node:cluster';
import type { CommandLine, Host } from './command.ts';
import { CONFIG_FILES } from './config/config-files.ts';
import { listConfigPaths } from './config/config-source.ts';
import type { Config } from './config/create-config.ts';
import { readEnvironment } from './config/environment.ts';
import { loadConfig } from './config/load-config.ts';
import { readConfigText } from './config/read-config-text.ts';
import { createReloadCounts, type FollowOptions, followConfig } from './config/reload.ts';
import { type ConfigWatch, watchConfig } from './config/watch-config.ts';
import { countWorkers } from './count-workers.ts';
import { createLogger } from './create-logger.ts';
import type { Hangups } from './hangups.ts';
import { openSandbox, upstreamOf } from './open-sandbox.ts';
import { runWorker } from './run-worker.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveWorkers } from './serve-workers.ts';
import { untilStopped } from './until-stopped.ts';
import { findWorkerRole } from './workers/worker.ts';

/** This process, and the SIGHUPs that it caught since its start. */
interface RunningProcess {
  host: Host;
  hangups: Hangups;
}

/** Runs the gateway until a signal stops it: in this process, or in workers. Workers call it too. */
export async function runGateway(commandLine: CommandLine, running: RunningProcess): Promise<void> {
  const { host } = running;
  const role = findWorkerRole(host);
  if (role !== undefined) {
    return runWorker(role, host); // It ignores SIGHUP, which a terminal sends to all processes.
  }
  const environment = readEnvironment(host.env, readConfigText);
  const watch = watchConfig(listConfigPaths(commandLine.options.config, environment));
  return lead({ load: () => loadConfig(commandLine, environment, CONFIG_FILES), watch }, running);
}

/** Configuration of the process that was started, which can be read again. */
interface ConfigAccess {
  /** Reads the configuration. @throws {ConfigError} with all problems */
  load(): Config;
  watch: ConfigWatch;
}

/** Serves, in this process or in workers, until a signal stops it. */
async function lead({ load, watch }: ConfigAccess, { host, hangups }: RunningProcess): Promise<void> {
  const config = load();
  const logger = createLogger(config, host, host.stdout);
  const counts = createReloadCounts();
  await using sandbox = await openSandbox(config);
  const follow = (apply: FollowOptions['apply']) =>
    followConfig({ startup: config, load, watch, apply, counts, logger, hangups, host });
  const deps = { logger, host, metrics: counts.snapshot };
  const count = countWorkers(config.workers);
  if (count === 1 || !cluster.isPrimary) {
    await serveGateway(config, { upstream: upstreamOf(config, sandbox) }, deps, async (service) => {
      using _ = follow((next) => service.apply(next, upstreamOf(next, sandbox)));
      await untilStopped(config, { ...service, count: 1 }, host);
    });
  } else {
    await serveWorkers(config, { count, upstreamOf: (current) => upstreamOf(current, sandbox), follow }, deps);
  }
}
