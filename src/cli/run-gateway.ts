import cluster from 'node:cluster';
import { countWorkers } from '../settings/command.ts';
import type { CommandLine, Process } from './command.ts';
import { listConfigPaths } from './config/config-file.ts';
import { readEnvironment } from './config/environment.ts';
import { type Config, loadConfig } from './config/load-config.ts';
import { ConfigWatch, createReloadCounts, type FollowOptions, followConfig } from './config/reload.ts';
import { createLogger } from './create-logger.ts';
import { openSandbox, withSandbox } from './open-sandbox.ts';
import { runWorker } from './run-worker.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveWorkers } from './serve-workers.ts';
import type { Hangups } from './signals.ts';
import { untilStopped } from './until-stopped.ts';
import { findWorkerRole } from './workers/worker.ts';

/** This process, and the SIGHUPs that it caught since its start. */
interface RunningProcess {
  host: Process;
  hangups: Hangups;
}

/** Runs the gateway until a signal stops it: in this process, or in workers. Workers call it too. */
export async function runGateway(commandLine: CommandLine, running: RunningProcess): Promise<void> {
  const { host } = running;
  const role = findWorkerRole(host);
  if (role !== undefined) {
    return runWorker(role, host); // It ignores SIGHUP, which a terminal sends to all processes.
  }
  const environment = readEnvironment(host.env);
  const watch = new ConfigWatch(listConfigPaths(commandLine.options.config, environment));
  return serveUntilStopped({ load: () => loadConfig(commandLine, environment).config, watch }, running);
}

/** Configuration of the process that was started, which can be read again. */
interface ConfigAccess {
  /** Reads the configuration. @throws {ConfigError} with all problems */
  load(): Config;
  watch: ConfigWatch;
}

/** Serves, in this process or in workers, until a signal stops it. */
async function serveUntilStopped({ load, watch }: ConfigAccess, { host, hangups }: RunningProcess): Promise<void> {
  const config = load();
  const logger = createLogger(config, host, host.stdout);
  const counts = createReloadCounts();
  await using sandbox = await openSandbox(config);
  const follow = (apply: FollowOptions['apply']) =>
    followConfig({
      startup: config,
      load,
      watch,
      apply: (next) => apply(withSandbox(next, sandbox)),
      counts,
      logger,
      hangups,
      host,
    });
  const served = withSandbox(config, sandbox);
  const deps = { logger, host, metrics: counts.snapshot };
  const count = countWorkers(config.workers);
  if (count === 1 || !cluster.isPrimary) {
    await serveGateway(served, deps, async (service) => {
      using _ = follow(service.apply);
      await untilStopped(config, { ...service, count: 1 }, host);
    });
  } else {
    await serveWorkers(served, { count, follow }, deps);
  }
}
