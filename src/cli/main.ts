import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseEnv } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { ManifestError } from '../graphql/documents/manifest.ts';
import { maxClientFiles } from '../http/open-files.ts';
import { createOverloadMonitor } from '../http/overload.ts';
import { ListenError, startServer } from '../http/server.ts';
import { SecretError } from '../lib/secret-files.ts';
import { VERSION } from '../lib/version.ts';
import { SANDBOX_KEYS } from '../sandbox/environments.ts';
import { SandboxError } from '../sandbox/errors.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { formatMetrics } from '../telemetry/metrics-snapshot.ts';
import { processSnapshot } from '../telemetry/process-metrics.ts';
import { banner } from './banner.ts';
import { startWorkers, WorkersError } from './cluster/primary.ts';
import { type Assignment, findWorkerRole, type WorkerRole } from './cluster/worker.ts';
import type { Environment } from './config/config-source.ts';
import { type Config, ConfigError, loadConfig } from './config/load-config.ts';
import { writeHelp } from './help.ts';

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
  const logger = createLogger(config);
  await using sandbox = config.upstream.kind === 'sandbox' ? await openSandbox(config.upstream.file) : undefined;
  const upstream = config.upstream.kind === 'service' ? config.upstream.url.href : sandbox?.url;
  if (upstream === undefined) {
    throw new Error('neither an upstream nor a sandbox');
  }
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  if (count === 1 || !cluster.isPrimary) {
    await serve(config, { upstream, port }, logger, (service) => untilStopped(config, service));
  } else {
    await using workers = await startWorkers({ count, upstream, port, env: settingsForWorkers(config, env), logger });
    await untilStopped(config, workers);
  }
}

// Gateway and sandbox are loaded on demand: a primary has no gateway, and a worker no sandbox.

async function openSandbox(file: string): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  return startSandbox({ file });
}

// A function of its own: next to `await using`, the compiler doesn't rewrite the path, which doesn't exist in the package.
const loadGateway = () => import('../gateway.ts');

/** Serves as one of several workers, until the primary stops it. */
async function work(config: Config, role: WorkerRole): Promise<void> {
  process.on('SIGINT', () => {}); // A terminal sends it to the primary too, which tells the first from the second.
  process.on('SIGTERM', role.stop);
  try {
    await serve(config, role.assignment, createLogger(config), async ({ url, checkUpstream }) => {
      await role.report({ kind: 'listening', url });
      if (role.isFirst) {
        const problem = await Promise.race([checkUpstream(), role.stopped]);
        await role.report({ kind: 'checked', problem });
      }
      await role.stopped;
    });
  } catch (error) {
    const failure = explain(error);
    if (failure === undefined) {
      throw error;
    }
    await role.report({ kind: 'refused', problem: failure.message });
    process.exitCode = failure.exitCode;
  }
  role.leave();
}

/** Process or group of workers that listens. */
interface Service {
  /** The GraphQL endpoint. */
  url: string;
  checkUpstream(): Promise<string | undefined>;
  /** Ends the workers immediately. */
  kill?(): void;
}

/**
 * Keeps V8 from allocating objects in the old generation (pretenuring). It decides so in the first seconds, when the young generation is small
 * and in-flight requests survive its collections. Each such object would then keep everything it refers to alive until a full collection.
 */
const allocateYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** Serves until `use` ends. */
async function serve(
  config: Config,
  { upstream, port }: Assignment,
  logger: Logger,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  allocateYoung();
  const authorization = authorizationOf(config);
  const isFilledIn = config.graphiql === true && authorization !== undefined && config.clients.server !== false;
  const { createGateway } = await loadGateway();
  await using gateway = createGateway(
    { ...config.given, upstream, ...(isFilledIn && { graphiql: { authorization } }) },
    { logger },
  );
  using overload = createOverloadMonitor(config);
  await using server = await startServer({
    ...config,
    maxConnections: Math.min(config.maxConnections, maxClientFiles()),
    port,
    listener: gateway.listener,
    bufferedBytes: gateway.bufferedBytes,
    overload,
    metrics: config.metrics
      ? (load) => formatMetrics([[...gateway.metricsSnapshot(), ...processSnapshot(load, process)]])
      : undefined,
  });
  await use({ url: `${server.url}${gateway.endpoint}`, checkUpstream: gateway.checkUpstream });
}

/** Prints the banner, and waits for the signal to stop. */
async function untilStopped(config: Config, { url, checkUpstream, kill }: Service): Promise<void> {
  const stopped = shutdownSignal(kill); // First, because the reader of the banner may stop the process immediately.
  process.stdout.write(banner(url, config, authorizationOf(config)));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    process.stderr.write(
      `The upstream is unreachable (${problem}). Notigraph is running, but requests will fail until the upstream is reachable.\n`,
    );
  }
  await stopped;
  process.stdout.write('Shutting down: finishing in-flight requests. Press Ctrl-C again to quit now.\n');
}

/** Creates a logger that writes JSON lines, or readable lines to a terminal. */
function createLogger({ isProduction, workers }: Config): Logger {
  const isForPerson = process.stdout.isTTY && !isProduction;
  const ignore = workers === 1 ? 'pid,hostname' : 'hostname';
  return isForPerson ? pino(pretty({ ignore, singleLine: true, sync: true })) : pino();
}

/** Returns the environment of workers: the settings as this process read them, even if the file .env changes later. */
function settingsForWorkers({ logSecret, variables }: Config, env: Environment): Environment {
  const isSetting = (name: string) => /^(?:NOTIGRAPH_|NODE_ENV$)/.test(name) || variables.includes(name);
  const settings = Object.entries(env).filter(([name]) => isSetting(name));
  // With the same secret, a tenant has the same name in the log lines of all workers.
  return { ...Object.fromEntries(settings), NOTIGRAPH_LOG_SECRET: logSecret ?? randomBytes(32).toString('hex') };
}

/** Returns the sandbox's key, which everybody may use. The keys of a service are the callers'. */
const authorizationOf = ({ upstream }: Config): string | undefined =>
  upstream.kind === 'sandbox' ? `ApiKey ${SANDBOX_KEYS.development}` : undefined;

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

/** Returns a file's text, or undefined if it can't be read. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readDotEnv(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR') {
      return {}; // It is optional, and some projects have a directory of this name.
    }
    throw new ConfigError([`The file .env can't be read (${code ?? error}).`]);
  }
}

/** Returns the message and exit code for a problem that is not a bug; undefined for bugs. */
function explain(error: unknown): { message: string; exitCode: number } | undefined {
  if (error instanceof ConfigError) {
    return { message: error.problems.join('\n'), exitCode: 2 };
  }
  if (error instanceof SecretError || error instanceof ManifestError) {
    return { message: `Notigraph can't start: ${error.message}.`, exitCode: 2 };
  }
  if (error instanceof WorkersError) {
    return error;
  }
  return error instanceof ListenError || error instanceof SandboxError
    ? { message: error.message, exitCode: 1 }
    : undefined;
}

try {
  await main();
} catch (error) {
  const failure = explain(error);
  if (failure === undefined) {
    throw error;
  }
  process.stderr.write(`${failure.message}\n`);
  process.exitCode = failure.exitCode;
}
