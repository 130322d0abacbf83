import { findConflicts } from '../../settings/conflicts.ts';
import type { GatewaySettingOptions } from '../../settings/gateway-options.gen.ts';
import { type PartialSettings, parseSettings, type SettingProblem } from '../../settings/parse-settings.ts';
import { unknownSetting, variableOf } from '../../settings/setting.ts';
import { GATEWAY_SETTINGS } from '../../settings/settings.ts';
import { readArguments } from '../command-line.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { type Environment, findSource, type ReadFile, SOURCE_VARIABLES } from './config-source.ts';
import { type MergedSettings, mergeSources, SETTING_NAMES, VARIABLE_NAMES } from './merge-sources.ts';

/** Configuration of the process. */
export interface Config extends Omit<PartialSettings, 'upstream' | 'sandbox'> {
  /** Configured settings before validation, for `createGateway`. */
  given: Readonly<Partial<GatewaySettingOptions>>;
  /** URL of the service, or the database file of the embedded sandbox; `:memory:` keeps data in memory. */
  upstream: { kind: 'service'; url: URL } | { kind: 'sandbox'; file: string };
  /** Whether the process runs in production. The log is then JSON even on a terminal. */
  isProduction: boolean;
  /** Environment variables that the configuration file refers to. */
  variables: readonly string[];
}

/** Action requested on the command line. */
export type Command = { kind: 'help' } | { kind: 'version' } | { kind: 'serve'; config: Config };

/** Reports all configuration errors together, one sentence each. They never contain values, which may be secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const DEFAULT_SANDBOX_FILE = '.notigraph/sandbox.db';

const NO_FILE: ConfigFile = { values: {}, variables: [], problems: [] };

/**
 * Reads the command line, the environment and the configuration file.
 *
 * @param env environment variables; empty ones count as not set
 * @param argv arguments after the command
 * @throws {ConfigError} with all problems
 */
export function loadConfig(env: Environment, argv: readonly string[], readFile: ReadFile = () => undefined): Command {
  const { values: flags, problems } = readArguments(argv);
  if (flags.help || flags.version) {
    return { kind: flags.help ? 'help' : 'version' };
  }
  const source = findSource(flags.config, env, readFile, problems);
  const file = source === undefined ? NO_FILE : readConfigFile(source, env, SETTING_NAMES);
  const { values, labels } = mergeSources(file.values, source?.name, env, flags.settings);
  problems.push(...file.problems.map(({ sentence }) => sentence), ...findUnknownVariables(env));

  const isProduction = env.NODE_ENV === 'production';
  const { sandbox, ...given }: Record<string, unknown> = { graphiql: !isProduction, ...values };
  const { settings, problems: invalid = [] } = parseSettings(given);
  const known = new Set(file.problems.map(({ path }) => path));
  problems.push(
    ...invalid.filter(({ path }) => !known.has(path.join('.'))).map((problem) => toSentence(problem, labels)),
    ...findUpstreamProblems(values, labels, isProduction),
    ...(settings === undefined ? [] : findConflicts(settings)).map((clause) => `${source?.name}: ${clause}.`),
  );
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError(problems);
  }
  const { upstream: url, ...others } = settings;
  return {
    kind: 'serve',
    config: {
      ...others,
      given: pickGatewayOptions(given),
      upstream: url === undefined ? { kind: 'sandbox', file: toFile(sandbox) } : { kind: 'service', url },
      isProduction,
      variables: file.variables,
    },
  };
}

/** Returns the settings for `createGateway`, which validates them itself with the same schemas. */
const pickGatewayOptions = (given: Readonly<Record<string, unknown>>): Partial<GatewaySettingOptions> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(GATEWAY_SETTINGS, name)));

const toFile = (sandbox: unknown): string =>
  typeof sandbox === 'string' && !/^1?$/.test(sandbox) ? sandbox : DEFAULT_SANDBOX_FILE;

function toSentence(
  { path: [name = '', ...inner], message }: SettingProblem,
  places: MergedSettings['labels'],
): string {
  return `${[places[String(name)] ?? String(name), ...inner].join('.')} ${message}.`;
}

function findUpstreamProblems(
  values: MergedSettings['values'],
  places: MergedSettings['labels'],
  isProduction: boolean,
): string[] {
  if (values.upstream !== undefined && values.sandbox !== undefined) {
    return [`Use either ${places.upstream} or ${places.sandbox}, not both.`];
  }
  return isProduction && values.upstream === undefined && values.sandbox === undefined
    ? [
        "No upstream is configured. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address. With NODE_ENV=production the sandbox starts only with --sandbox.",
      ]
    : [];
}

/** Variables that only tests read. */
const TEST_VARIABLE = /^NOTIGRAPH_TEST_/;

/** Returns an error for each unknown variable: a misspelled one would silently have no effect. */
function findUnknownVariables(env: Environment): string[] {
  const known = [...SOURCE_VARIABLES, ...VARIABLE_NAMES.map(variableOf)];
  return Object.keys(env)
    .filter((name) => name.startsWith('NOTIGRAPH_') && !known.includes(name) && !TEST_VARIABLE.test(name))
    .map((name) => `The environment has ${unknownSetting(name, known, 'variable')}. See docs/configuration.md.`);
}
