// Runs the gateway from its start to the signal that stops it: in this process, or in workers, which call it too.

import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { VERSION } from '../../../../src/lib/installation.ts';
import { banner, listServices } from '../banner.ts';
import type { CommandLine, Process } from '../command.ts';
import { configPathOf } from '../config/config-file.ts';
import { readEnvironment } from '../config/environment.ts';
import { type Config, describeConfig, type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { findUnchanged, loadCheckedModules, type ModuleFiles } from '../config/load-modules.ts';
import { ConfigWatch, followConfig, ReloadCounts } from '../config/reload.ts';
import { countWorkers } from '../config/settings.ts';
import { createLogger } from '../logger.ts';
import { findMemoryProblem } from '../server/process-limits.ts';
import { catchStopSignals } from '../signals.ts';
import { findWorkerRole } from '../workers/worker.ts';
import { openSandbox, withSandbox } from './open-sandbox.ts';
import { type ServedGateway, serveGateway } from './serve-gateway.ts';
import { runWorker, serveWorkers } from './serve-workers.ts';

/** @param hangups each SIGHUP of this process */
export async function runGateway(
  commandLine: CommandLine,
  host: Process,
  hangups: AsyncIterable<unknown>,
): Promise<void> {
  const role = findWorkerRole(host);
  if (role !== undefined) {
    return runWorker(role, host); // It ignores SIGHUP, which a terminal sends to all processes.
  }
  const environment = readEnvironment(host.env);
  const path = configPathOf(commandLine.options.config, environment);
  const watch = new ConfigWatch();
  watch.watch(path === undefined ? [] : [path]);
  let generation = 0;

  /**
   * Loads the configuration, and imports and checks its modules, also for workers, which get the files as they are now.
   *
   * @param previous the configuration before. Its files of modules that haven't changed are not imported again
   */
  async function load(previous?: Config): Promise<LoadedConfig> {
    const { config, locate, values } = loadConfig(commandLine, environment);
    const source = { ...config, generation, moduleFiles: findUnchanged(previous?.moduleFiles) };
    const files: ModuleFiles = new Map();
    generation += 1;
    try {
      await loadCheckedModules(source, locate, files);
    } finally {
      watch.watch(files.keys()); // Also if one is invalid, so that its correction is noticed.
    }
    const moduleFiles = Object.fromEntries(
      [...files].flatMap(([path, file]) => (file === undefined ? [] : [[path, file]])),
    );
    return { config: { ...source, moduleFiles }, locate, values };
  }

  let loaded = await load(); // The latest, also if it was rejected then: its modules are not imported again.
  let inUse = loaded;
  const { config } = loaded;
  const logger = createLogger(config, host, host.stdout);
  const counts = new ReloadCounts();
  await using sandbox = await openSandbox(config);
  const served = withSandbox(config, sandbox);
  const deps = { logger, host, metrics: () => counts.snapshot(), describeConfig: () => describeConfig(inUse) };
  const count = cluster.isPrimary ? countWorkers(config.workers) : 1;
  const use = async (service: ServedGateway) => {
    using _ = followConfig({
      startup: config,
      async load() {
        loaded = await load(loaded.config);
        return loaded.config;
      },
      watch,
      async apply(next) {
        await service.apply(withSandbox(next, sandbox));
        inUse = { ...loaded, config: next };
      },
      counts,
      logger,
      hangups,
      host,
    });
    await untilStopped(config, service, count, logger, host);
  };
  if (count === 1) {
    await serveGateway(served, deps, use);
  } else {
    await serveWorkers(served, count, deps, use);
  }
}

/** Logs and prints what is running, and waits for the signal to stop. */
async function untilStopped(
  config: Config,
  { url, adminUrl, checkUpstream, kill }: ServedGateway,
  count: number,
  logger: Logger,
  host: Process,
): Promise<void> {
  host.exitCode = 0; // A gateway that can't write its output is no failure.
  const stopped = new Promise<undefined>((resolve) =>
    // First, because the reader of the banner may stop the process immediately.
    catchStopSignals(host, {
      stop: () => resolve(undefined),
      quit() {
        kill?.();
        host.exit(1);
      },
    }),
  );
  const upstreams = config.sandbox === undefined ? listServices(config, (each) => new URL(each).host) : ['sandbox'];
  logger.info({ version: VERSION, modules: config.modules, upstreams }, 'started');
  if (config.isProduction && config.sandbox !== undefined) {
    logger.warn('the sandbox serves sample records with public API keys in production: set upstream');
  }
  const memory = findMemoryProblem(config, count);
  if (memory !== undefined) {
    logger.warn(memory);
  }
  host.stdout.write(banner(config, url, adminUrl, count));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    host.stderr.write(`${problem} Notigraph is running, but requests will fail until this is fixed.\n`);
  }
  await stopped;
  const hint = config.isProduction ? '' : ' Press Ctrl-C again to quit now.';
  host.stdout.write(`Shutting down: finishing in-flight requests.${hint}\n`);
}
