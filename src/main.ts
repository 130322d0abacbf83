import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { HELP } from './command-line.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { createOverloadMonitor } from './overload.ts';
import { SANDBOX_KEYS, SandboxError, startSandbox } from './sandbox/sandbox.ts';
import { ListenError, startServer } from './server.ts';
import { applyTuning } from './tuning.ts';
import { VERSION } from './version.ts';

/** The process: configuration, the sandbox where no upstream is given, gateway, server, signals. */
async function main(): Promise<void> {
  const command = loadConfig({ ...readDotEnv(), ...process.env }, process.argv.slice(2));
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP);
      return;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return;
    case 'serve':
      await serve(command.config);
  }
}

async function serve(config: Config): Promise<void> {
  const { host, port, upstream, graphiql, introspection, corsOrigins, upstreamIdempotency, logSecret } = config;
  const tuning = applyTuning(config.tuning);
  const logger = createLogger(config);
  await using sandbox = upstream.kind === 'sandbox' ? await startSandbox({ file: upstream.file }) : undefined;
  const authorization = sandbox && `ApiKey ${SANDBOX_KEYS.development}`;
  const url = upstream.kind === 'service' ? upstream.url.href : sandbox?.url;
  if (url === undefined) {
    throw new Error('neither an upstream nor a sandbox');
  }
  await using gateway = createGateway(
    {
      ...tuning.gateway,
      policies: { ...tuning.gateway.policies, honoursIdempotencyKeys: upstreamIdempotency },
      upstream: url,
      graphiql: graphiql && (authorization === undefined || { authorization }),
      introspection,
      corsOrigins,
      ...(logSecret !== undefined && { logSecret }),
    },
    { logger },
  );
  using overload = createOverloadMonitor(tuning.overload);
  await using server = await startServer({ ...tuning.server, host, port, listener: gateway.listener, overload });
  const stopped = shutdownSignal(); // First: whoever reads that it listens may stop it at once.
  process.stdout.write(banner(`${server.url}${gateway.endpoint}`, { graphiql, upstream, authorization }));

  const problem = await Promise.race([gateway.checkUpstream(), stopped]);
  if (problem !== undefined) {
    process.stderr.write(
      `The upstream cannot be reached (${problem}). Notigraph serves, but every call fails until the upstream can be reached.\n`,
    );
  }
  await stopped;
  process.stdout.write('Stopping: requests that run may finish; a second signal ends them.\n');
}

/** JSON lines; for a person at a terminal, readable ones. */
function createLogger({ isProduction }: Config): Logger {
  const isForPerson = process.stdout.isTTY && !isProduction;
  return isForPerson ? pino(pretty({ ignore: 'pid,hostname', singleLine: true, sync: true })) : pino();
}

/** Settles at the first SIGINT or SIGTERM; from then on the next one ends the process at once. */
async function shutdownSignal(): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onSignal = () => resolve(undefined);
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  await promise;
  const exit = () => process.exit(1);
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM').once('SIGINT', exit).once('SIGTERM', exit);
  return undefined;
}

function banner(
  url: string,
  { graphiql, upstream, authorization }: Pick<Config, 'graphiql' | 'upstream'> & { authorization: string | undefined },
): string {
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
    `  curl -s ${url} -H 'Authorization: ${authorization ?? 'ApiKey <your key>'}' -H 'Content-Type: application/json' -d '${query}'`,
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
