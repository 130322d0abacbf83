import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { banner } from './banner.ts';
import { startWorkers } from './cluster/primary.ts';
import { findWorkerRole, type WorkerRole } from './cluster/worker.ts';
import type { CommandLine, Host } from './commands/command.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { type Config, type Files, loadConfig } from './config/load-config.ts';
import { readConfigText } from './config/read-config-text.ts';
import { findFileProblems } from './config/referenced-files.ts';
import { createLogger } from './create-logger.ts';
import { findExampleRequest } from './example-request.ts';
import { explainFailure } from './explain-failure.ts';
import { type RunningGateway, serveGateway } from './serve-gateway.ts';
import { environmentForWorkers } from './worker-environment.ts';

const FILES: Files = { read: readConfigText, findProblems: findFileProblems };

/** Runs the gateway until a signal stops it: in this process, or in workers. A worker comes here too. */
export async function runGateway(commandLine: CommandLine, host: Host): Promise<void> {
  const role = findWorkerRole(host.env);
  if (role === undefined) {
    const environment = readEnvironment(host.env, readConfigText);
    return lead(loadConfig(commandLine, environment, FILES), environment, host);
  }
  // The primary has read the file .env.
  const environment = readEnvironment(role.env, () => undefined);
  return work(loadConfig(commandLine, environment, FILES), role, host);
}

/** Serves, in this process or in workers, until a signal stops it. */
async function lead(config: Config, environment: Environment, host: Host): Promise<void> {
  const { port } = config;
  const logger = createLogger(config, host.stdout);
  await using sandbox = config.upstream.kind === 'sandbox' ? await openSandbox(config.upstream.file) : undefined;
  const upstream = config.upstream.kind === 'service' ? config.upstream.url.href : sandbox?.url;
  if (upstream === undefined) {
    throw new Error('neither an upstream nor a sandbox');
  }
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count === 1 || !cluster.isPrimary) {
    await serveGateway(config, { upstream, port }, { logger, host }, (service) =>
      untilStopped(config, { ...service, count: 1 }, host),
    );
  } else {
    const env = environmentForWorkers(config, environment);
    await using workers = await startWorkers({ count, upstream, port, env, logger });
    await untilStopped(config, { ...workers, count }, host);
  }
}

/** Starts the sandbox. It is loaded on demand, because workers have none. */
async function openSandbox(file: string): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  return startSandbox({ file });
}

/** Serves as one of several workers, until the primary stops it. */
async function work(config: Config, role: WorkerRole, host: Host): Promise<void> {
  host.on('SIGINT', () => {}); // A terminal sends it to the primary too, which tells the first from the second.
  host.on('SIGTERM', role.stop);
  try {
    const logger = createLogger(config, host.stdout);
    await serveGateway(config, role.assignment, { logger, host }, async ({ url, checkUpstream }) => {
      await role.report({ kind: 'listening', url });
      if (role.isFirst) {
        const problem = await Promise.race([checkUpstream(), role.stopped]);
        await role.report({ kind: 'checked', problem });
      }
      await role.stopped;
    });
  } catch (error) {
    const failure = explainFailure(error);
    if (failure === undefined) {
      throw error;
    }
    await role.report({ kind: 'refused', problem: failure.message });
    host.exitCode = failure.exitCode;
  }
  role.leave();
}

/** Gateway in this process, or in workers. */
interface Service extends RunningGateway {
  /** Number of processes that serve. */
  count: number;
  /** Ends the workers immediately. */
  kill?(): void;
}

/** Prints the banner, and waits for the signal to stop. */
async function untilStopped(config: Config, { url, checkUpstream, count, kill }: Service, host: Host): Promise<void> {
  const stopped = shutdownSignal(host, kill); // First, because the reader of the banner may stop the process immediately.
  host.stdout.write(banner(config, { url, workers: count, example: await findExampleRequest(config) }));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    host.stderr.write(`${problem} Notigraph is running, but requests will fail until this is fixed.\n`);
  }
  await stopped;
  host.stdout.write('Shutting down: finishing in-flight requests. Press Ctrl-C again to quit now.\n');
}

/** Resolves at the first SIGINT or SIGTERM. The next one ends the process immediately. */
async function shutdownSignal(host: Host, kill?: () => void): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onSignal = () => resolve(undefined);
  host.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  await promise;
  const exit = () => {
    kill?.();
    host.exit(1);
  };
  host.removeAllListeners('SIGINT').removeAllListeners('SIGTERM').once('SIGINT', exit).once('SIGTERM', exit);
  return undefined;
}
