import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { VERSION } from '../lib/version.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { banner } from './banner.ts';
import { startWorkers } from './cluster/primary.ts';
import { findWorkerRole, type WorkerRole } from './cluster/worker.ts';
import type { Environment } from './config/config-source.ts';
import { type Config, loadConfig } from './config/load-config.ts';
import { createLogger } from './create-logger.ts';
import { explainFailure } from './explain-failure.ts';
import { writeHelp } from './help.ts';
import { readDotEnv, readIfThere } from './read-files.ts';
import { type RunningGateway, sandboxAuthorization, serveGateway } from './serve-gateway.ts';
import { environmentForWorkers } from './worker-environment.ts';

/** Runs the process: configuration, sandbox if there is no upstream, gateway, server, signals. */
async function main(): Promise<void> {
  const role = findWorkerRole(process.env);
  const env = role?.env ?? { ...readDotEnv(), ...process.env };
  const command = loadConfig(env, process.argv.slice(2), readIfThere);
  switch (command.kind) {
    case 'help':
      process.stdout.write(writeHelp());
      return;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return;
    case 'serve':
      return role === undefined ? lead(command.config, env) : work(command.config, role);
  }
}

/** Serves, in this process or in workers, until a signal stops it. */
async function lead(config: Config, env: Environment): Promise<void> {
  const { port } = config;
  const logger = createLogger(config, process.stdout.isTTY);
  await using sandbox = config.upstream.kind === 'sandbox' ? await openSandbox(config.upstream.file) : undefined;
  const upstream = config.upstream.kind === 'service' ? config.upstream.url.href : sandbox?.url;
  if (upstream === undefined) {
    throw new Error('neither an upstream nor a sandbox');
  }
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count === 1 || !cluster.isPrimary) {
    await serveGateway(config, { upstream, port }, logger, (service) => untilStopped(config, service));
  } else {
    await using workers = await startWorkers({
      count,
      upstream,
      port,
      env: environmentForWorkers(config, env),
      logger,
    });
    await untilStopped(config, workers);
  }
}

/** Starts the sandbox. It is loaded on demand, because workers have none. */
async function openSandbox(file: string): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  return startSandbox({ file });
}

/** Serves as one of several workers, until the primary stops it. */
async function work(config: Config, role: WorkerRole): Promise<void> {
  process.on('SIGINT', () => {}); // A terminal sends it to the primary too, which tells the first from the second.
  process.on('SIGTERM', role.stop);
  try {
    await serveGateway(
      config,
      role.assignment,
      createLogger(config, process.stdout.isTTY),
      async ({ url, checkUpstream }) => {
        await role.report({ kind: 'listening', url });
        if (role.isFirst) {
          const problem = await Promise.race([checkUpstream(), role.stopped]);
          await role.report({ kind: 'checked', problem });
        }
        await role.stopped;
      },
    );
  } catch (error) {
    const failure = explainFailure(error);
    if (failure === undefined) {
      throw error;
    }
    await role.report({ kind: 'refused', problem: failure.message });
    process.exitCode = failure.exitCode;
  }
  role.leave();
}

/** Gateway in this process, or in workers. */
interface Service extends RunningGateway {
  /** Ends the workers immediately. */
  kill?(): void;
}

/** Prints the banner, and waits for the signal to stop. */
async function untilStopped(config: Config, { url, checkUpstream, kill }: Service): Promise<void> {
  const stopped = shutdownSignal(kill); // First, because the reader of the banner may stop the process immediately.
  process.stdout.write(banner(url, config, sandboxAuthorization(config)));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    process.stderr.write(
      `The upstream is unreachable (${problem}). Notigraph is running, but requests will fail until the upstream is reachable.\n`,
    );
  }
  await stopped;
  process.stdout.write('Shutting down: finishing in-flight requests. Press Ctrl-C again to quit now.\n');
}

/** Resolves at the first SIGINT or SIGTERM. The next one ends the process immediately. */
async function shutdownSignal(kill?: () => void): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onSignal = () => resolve(undefined);
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  await promise;
  const exit = () => {
    kill?.();
    process.exit(1);
  };
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM').once('SIGINT', exit).once('SIGTERM', exit);
  return undefined;
}

try {
  await main();
} catch (error) {
  const failure = explainFailure(error);
  if (failure === undefined) {
    throw error;
  }
  process.stderr.write(`${failure.message}\n`);
  process.exitCode = failure.exitCode;
}
