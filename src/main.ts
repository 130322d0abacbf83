import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseEnv } from 'node:util';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { HELP } from './command-line.ts';
import { type Config, ConfigError, type Environment, loadConfig } from './config.ts';
import { toText } from './metrics/figures.ts';
import { processFigures } from './metrics/process-metrics.ts';
import { createOverloadMonitor } from './overload.ts';
import { SANDBOX_KEYS } from './sandbox/environments.ts';
import { SandboxError } from './sandbox/errors.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { ListenError, startServer } from './server.ts';
import { applyTuning } from './tuning.ts';
import { VERSION } from './version.ts';
import { type Assignment, findWorkerRole, type WorkerRole } from './worker.ts';
import { startWorkers } from './workers.ts';

/** The process: configuration, the sandbox where no upstream is given, gateway, server, signals. */
async function main(): Promise<void> {
  const role = findWorkerRole(process.env);
  const env = role?.env ?? { ...readDotEnv(), ...process.env };
  const command = loadConfig(env, process.argv.slice(2));
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP);
      return;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return;
    case 'serve':
      return role === undefined ? lead(command.config, env) : work(command.config, role);
  }
}

/** Serves, alone or by workers, until a signal stops it. */
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

// What not every process needs is loaded where it is needed: a primary has no gateway, and a worker no sandbox.

async function openSandbox(file: string): Promise<Sandbox> {
  const { startSandbox } = await import('./sandbox/sandbox.ts');
  return startSandbox({ file });
}

// Not written where it is used: beside `await using`, the compiler leaves the path as it is, which the package does not have.
const loadGateway = () => import('./gateway.ts');

/** Serves beside other workers, until the primary stops it. */
async function work(config: Config, role: WorkerRole): Promise<void> {
  process.on('SIGINT', () => {}); // A terminal's goes to the primary too, which knows the first from the second.
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
    if (!(error instanceof ListenError)) {
      throw error;
    }
    await role.report({ kind: 'refused', problem: error.message });
    process.exitCode = 1;
  }
  role.leave();
}

/** What listens. */
interface Service {
  /** The GraphQL endpoint. */
  url: string;
  checkUpstream(): Promise<string | undefined>;
  /** Ends at once what this process does not end by ending itself. */
  kill?(): void;
}

/** Listens for as long as `use` takes. */
async function serve(
  config: Config,
  { upstream, port }: Assignment,
  logger: Logger,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const { host, graphiql, introspection, corsOrigins, upstreamIdempotency, logSecret, metrics } = config;
  const authorization = authorizationOf(config);
  const tuning = applyTuning(config.tuning);
  const { createGateway } = await loadGateway();
  await using gateway = createGateway(
    {
      ...tuning.gateway,
      policies: { ...tuning.gateway.policies, honoursIdempotencyKeys: upstreamIdempotency },
      upstream,
      graphiql: graphiql && (authorization === undefined || { authorization }),
      introspection,
      corsOrigins,
      ...(logSecret !== undefined && { logSecret }),
      metrics,
    },
    { logger },
  );
  using overload = createOverloadMonitor(tuning.overload);
  await using server = await startServer({
    ...tuning.server,
    host,
    port,
    listener: gateway.listener,
    overload,
    metrics: metrics ? (load) => toText([[...gateway.figures(), ...processFigures(load, process)]]) : undefined,
  });
  await use({ url: `${server.url}${gateway.endpoint}`, checkUpstream: gateway.checkUpstream });
}

/** Says that it listens, and waits for the signal to stop. */
async function untilStopped(config: Config, { url, checkUpstream, kill }: Service): Promise<void> {
  const stopped = shutdownSignal(kill); // First: whoever reads that it listens may stop it at once.
  process.stdout.write(banner(url, config));

  const problem = await Promise.race([checkUpstream(), stopped]);
  if (problem !== undefined) {
    process.stderr.write(
      `The upstream cannot be reached (${problem}). Notigraph serves, but every call fails until the upstream can be reached.\n`,
    );
  }
  await stopped;
  process.stdout.write('Stopping: requests that run may finish; a second signal ends them.\n');
}

/** JSON lines; for a person at a terminal, readable ones. */
function createLogger({ isProduction, workers }: Config): Logger {
  const isForPerson = process.stdout.isTTY && !isProduction;
  const ignore = workers === 1 ? 'pid,hostname' : 'hostname';
  return isForPerson ? pino(pretty({ ignore, singleLine: true, sync: true })) : pino();
}

/** What workers read their configuration from: the settings as this process read them, whatever becomes of the file .env. */
function settingsForWorkers({ logSecret }: Config, env: Environment): Environment {
  const settings = Object.entries(env).filter(([name]) => /^(?:NOTIGRAPH_|NODE_ENV$)/.test(name));
  // Tenants have the same names in the lines of all of them.
  return { ...Object.fromEntries(settings), NOTIGRAPH_LOG_SECRET: logSecret ?? randomBytes(32).toString('hex') };
}

/** The sandbox's key, for everybody who tries it; a service's keys are the callers'. */
const authorizationOf = ({ upstream }: Config): string | undefined =>
  upstream.kind === 'sandbox' ? `ApiKey ${SANDBOX_KEYS.development}` : undefined;

/** Settles at the first SIGINT or SIGTERM; from then on the next one ends the process at once. */
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

function banner(url: string, config: Config): string {
  const { graphiql, upstream } = config;
  const source =
    upstream.kind === 'service'
      ? upstream.url.href
      : `built-in sandbox, ${upstream.file === ':memory:' ? 'its data is kept nowhere' : `its data is kept in ${upstream.file}`}`;
  const query = '{"query":"{ notificationGroups { id name } }"}';
  return [
    `Notigraph ${VERSION}`,
    '',
    `  GraphQL    ${url}`,
    `  GraphiQL   ${graphiql ? `${url} in a browser` : 'off (--graphiql on)'}`,
    `  Upstream   ${source}`,
    '',
    'Try it:',
    '',
    `  curl -s ${url} -H 'Authorization: ${authorizationOf(config) ?? 'ApiKey <your key>'}' -H 'Content-Type: application/json' -d '${query}'`,
    '',
    '',
  ].join('\n');
}

function readDotEnv(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR') {
      return {}; // It is optional, and some keep a folder of this name.
    }
    throw new ConfigError([`The file .env cannot be read (${code ?? error}).`]);
  }
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.problems.join('\n')}\n`);
    process.exitCode = 2;
  } else if (error instanceof ListenError || error instanceof SandboxError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
