// Serves tools to an AI agent over standard input and output.

import { Refusal } from '../../../src/errors/codes.ts';
import type { CommandLine, Process } from './command.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { type Config, loadConfig } from './config/load-config.ts';
import { loadCheckedModules } from './config/load-modules.ts';
import { ConfigError } from './config/problem.ts';
import { SETTINGS } from './config/settings.ts';
import { readCredential, selectUpstream } from './find-service.ts';
import { createLogger, logUndeclaredCalls } from './logger.ts';
import { openSandbox, sandboxAuthorization, withSandbox } from './serve/open-sandbox.ts';
import { catchStopSignals } from './signals.ts';

const KEY_VARIABLE = 'NOTIGRAPH_MCP_KEY';

/** Serves the tools to the program that started this process, over standard input and output, until it closes them. */
export async function runMcp(commandLine: CommandLine, host: Process): Promise<void> {
  const environment = readEnvironment(host.env);
  const { config, locate } = loadConfig(commandLine, environment);
  const modules = await loadCheckedModules(config, locate);
  if (config.audit?.to === 'stdout') {
    throw new ConfigError(['audit.to must be a file, because standard output belongs to the protocol here.']);
  }
  const { upstreams = {} } = config;
  const names = Object.keys(upstreams);
  const preset = names.find((name) => upstreams[name]?.default === true);
  const upstream = selectUpstream(names, commandLine.options.name, preset); // Gets all calls.
  const authorization = await findAuthorization(commandLine, environment, config, host);
  const logger = createLogger(config, host, host.stderr);
  const { buildGateway } = await import('../../../src/gateway.ts');
  const stop = new AbortController();
  catchStopSignals(host, { stop: () => stop.abort(), quit: () => host.exit(1) });
  const sandbox = await openSandbox(config);
  try {
    const settings = withDefault(withSandbox(config, sandbox), upstream);
    const deps = { logger, ...logUndeclaredCalls(config, logger) };
    await using gateway = buildGateway({ mcp: SETTINGS.mcp.parse({}), ...settings }, deps, undefined, { modules });
    await gateway.serveMcp({ input: host.stdin, output: host.stdout, authorization, signal: stop.signal });
  } catch (error) {
    throw error instanceof Refusal ? new ConfigError([error.message]) : error;
  } finally {
    host.stdin.destroy(); // It would keep the process alive.
    await sandbox?.close();
  }
}

/** Makes an upstream the default one, which gets calls without a host and a path. */
function withDefault(config: Config, upstream: string | undefined): Config {
  const entries = Object.entries(config.upstreams ?? {}).map(([name, entry]) => [
    name,
    { ...entry, default: name === upstream },
  ]);
  return upstream === undefined ? config : { ...config, upstreams: Object.fromEntries(entries) };
}

/** Returns the credential of all calls: a key from a file or the variable, or that of the sandbox. */
async function findAuthorization(
  { options: { 'key-file': file } }: CommandLine,
  { values }: Environment,
  config: Config,
  host: Process,
): Promise<string> {
  if (file === '-') {
    throw new ConfigError(['--key-file must be a file, because standard input belongs to the protocol here.']);
  }
  const key = await readCredential(file, values[KEY_VARIABLE], host);
  const authorization = key ?? sandboxAuthorization(config);
  if (authorization === undefined) {
    throw new ConfigError([`There is no API key. Set ${KEY_VARIABLE} or --key-file.`]);
  }
  return authorization;
}
