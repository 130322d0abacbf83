import cluster from 'node:cluster';
import { countWorkers } from '../settings/command.ts';
import type { CommandLine, Process } from './command.ts';
import { configPathOf } from './config/config-file.ts';
import { describeConfig } from './config/describe-config.ts';
import { readEnvironment } from './config/environment.ts';
import { type LoadedConfig, loadConfig } from './config/load-config.ts';
import { checkModules, findUnchanged, loadModules, type ModuleFiles } from './config/load-modules.ts';
import { ConfigWatch, type FollowOptions, followConfig, ReloadCounts } from './config/reload.ts';
import { createLogger } from './create-logger.ts';
import { openSandbox, withSandbox } from './open-sandbox.ts';
import { runWorker } from './run-worker.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveWorkers } from './serve-workers.ts';
import type { Hangups } from './signals.ts';
import { untilStopped } from './until-stopped.ts';
import { findWorkerRole } from './workers/worker.ts';

/** Runs the gateway until a signal stops it: in this process, or in workers. Workers call it too. */
export async function runGateway(commandLine: CommandLine, host: Process, hangups: Hangups): Promise<void> {
  const role = findWorkerRole(host);
  if (role !== undefined) {
    return runWorker(role, host); // It ignores SIGHUP, which a terminal sends to all processes.
  }
  const environment = readEnvironment(host.env);
  const path = configPathOf(commandLine.options.config, environment);
  const watched = new Set(path === undefined ? [] : [path]);
  const watch = new ConfigWatch([...watched]);
  let loaded = loadConfig(commandLine, environment);
  let inUse = loaded;
  let generation = 0;

  /** Imports and checks the modules of a configuration, also for workers, which get the files as they are now. */
  async function withModules({ config: next, locate, values }: LoadedConfig): Promise<LoadedConfig> {
    const files: ModuleFiles = new Map();
    try {
      await checkModules(next, await loadModules(next, locate, files), locate);
    } finally {
      for (const path of files.keys()) {
        watched.add(path); // Also if it is invalid, so that its correction is noticed.
      }
      watch.watch([...watched]);
    }
    const moduleFiles = Object.fromEntries(
      [...files].flatMap(([path, file]) => (file === undefined ? [] : [[path, file]])),
    );
    return { config: { ...next, moduleFiles }, locate, values };
  }

  const load = async () => {
    generation += 1;
    const next = loadConfig(commandLine, environment);
    const moduleFiles = findUnchanged(loaded.config.moduleFiles);
    loaded = await withModules({ ...next, config: { ...next.config, generation, moduleFiles } });
    return loaded.config;
  };
  loaded = await withModules(loaded);
  inUse = loaded;
  const { config } = loaded;
  const logger = createLogger(config, host, host.stdout);
  const counts = new ReloadCounts();
  await using sandbox = await openSandbox(config);
  const follow = (apply: FollowOptions['apply']) =>
    followConfig({
      startup: config,
      load,
      watch,
      async apply(next) {
        await apply(withSandbox(next, sandbox));
        inUse = { ...loaded, config: next };
      },
      counts,
      logger,
      hangups,
      host,
    });
  const served = withSandbox(config, sandbox);
  const deps = { logger, host, metrics: () => counts.snapshot(), describeConfig: () => describeConfig(inUse) };
  const count = countWorkers(config.workers);
  if (count === 1 || !cluster.isPrimary) {
    await serveGateway(served, deps, async (service) => {
      using _ = follow(service.apply);
      await untilStopped(config, { ...service, count: 1, logger }, host);
    });
  } else {
    await serveWorkers(served, { count, follow }, deps);
  }
}
