import { findConflicts } from '../../settings/conflicts.ts';
import type { GatewaySettingOptions } from '../../settings/gateway-options.gen.ts';
import { type PartialSettings, parseSettings, type SettingProblem } from '../../settings/parse-settings.ts';
import { suggest, variableOf } from '../../settings/setting.ts';
import { GATEWAY_SETTINGS } from '../../settings/settings.ts';
import type { CommandLine } from '../commands/command.ts';
import { DEFAULT_SANDBOX_FILE, findSandboxFileProblem } from '../sandbox-file.ts';
import { ConfigError } from './config-error.ts';
import { readConfigFile } from './config-file.ts';
import { findSource, SOURCE_VARIABLES } from './config-source.ts';
import type { Environment } from './environment.ts';
import { type MergedSettings, mergeSources, SETTING_NAMES, VARIABLE_NAMES } from './merge-sources.ts';
import type { ReadFile } from './read-config-text.ts';

/** Access to the files of a configuration. */
export interface Files {
  /** Reads the configuration file and `.env`. */
  read: ReadFile;
  /** Returns the problems of all files that settings refer to. The settings may be invalid. */
  findProblems(values: Readonly<Record<string, unknown>>): readonly SettingProblem[];
}

/** Configuration of the process. */
export interface Config extends Omit<PartialSettings, 'upstream' | 'sandbox'> {
  /** Configured settings before validation, for `createGateway`. */
  given: Readonly<Partial<GatewaySettingOptions>>;
  /** URL of the service, or the database file of the embedded sandbox; `:memory:` keeps data in memory. */
  upstream: { kind: 'service'; url: URL } | { kind: 'sandbox'; file: string };
  /** Name of the configuration file, or of the variable with the configuration; undefined if there is none. */
  source: string | undefined;
  /** Whether the process runs in production. The log is then JSON even on a terminal. */
  isProduction: boolean;
  /** Environment variables that the configuration file refers to. */
  variables: readonly string[];
}

/**
 * Reads the settings of the command line, the environment and the configuration file, and the files that they refer to.
 *
 * @param environment environment variables; empty ones count as not set
 * @throws {ConfigError} with all problems
 */
export function loadConfig(
  { options, problems: usage }: Pick<CommandLine, 'options' | 'problems'>,
  environment: Environment,
  files: Files,
): Config {
  const problems = [...usage, ...environment.problems];
  const source = findSource(options.config, environment, files.read, problems);
  const file = source && readConfigFile(source, environment.values, SETTING_NAMES);
  const merged = mergeSources(file, environment, options);
  problems.push(...findUnknownVariables(environment), ...(file?.problems ?? []).map(({ sentence }) => sentence));

  const isProduction = environment.values.NODE_ENV === 'production';
  const { sandbox, ...given }: Record<string, unknown> = { graphiql: !isProduction, ...merged.values };
  const { settings, problems: invalid = [] } = parseSettings(given);
  const known = new Set(file?.problems.map(({ path }) => path));
  const isNew = ({ path }: SettingProblem) => !known.has(path.join('.'));
  const sandboxFile = toFile(sandbox);
  const isComplete = problems.length === 0 || file?.values !== undefined; // Otherwise, the upstream may be in the unreadable file.
  problems.push(
    ...invalid.filter(isNew).map(({ path, at, message }) => `${merged.describe(path, { at: at ?? path })} ${message}.`),
    ...files
      .findProblems(given)
      .filter(isNew)
      .map(({ path, message }) => `${merged.describe(path)}: ${message}.`),
    ...findUpstreamProblems(merged, { isRequired: isProduction && isComplete }),
    ...(given.upstream === undefined ? findSandboxProblems(sandboxFile, merged) : []),
    ...(settings === undefined ? [] : findConflicts(settings)).map((clause) => toSentence(clause, merged)),
  );
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError(sortByPlace([...new Set(problems)], source?.name));
  }
  const { upstream: url, ...others } = settings;
  return {
    ...others,
    given: pickGatewayOptions(given),
    upstream: url === undefined ? { kind: 'sandbox', file: sandboxFile } : { kind: 'service', url },
    source: source?.name,
    isProduction,
    variables: file?.variables ?? [],
  };
}

/** Moves the problems of the configuration file to the end, in the order of their lines. */
function sortByPlace(problems: readonly string[], fileName: string | undefined): string[] {
  const placeOf = (problem: string): [line: number, column: number] => {
    const [, line, column] = /^:(\d+):(\d+): /.exec(problem.slice(fileName?.length)) ?? [];
    return fileName !== undefined && problem.startsWith(fileName) ? [Number(line ?? 0), Number(column ?? 0)] : [-1, 0];
  };
  return problems.toSorted((a, b) => {
    const [[line, column], [otherLine, otherColumn]] = [placeOf(a), placeOf(b)];
    return line - otherLine || column - otherColumn;
  });
}

/** Returns the settings for `createGateway`, which validates them itself with the same schemas. */
const pickGatewayOptions = (given: Readonly<Record<string, unknown>>): Partial<GatewaySettingOptions> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(GATEWAY_SETTINGS, name)));

const toFile = (sandbox: unknown): string =>
  typeof sandbox === 'string' && !/^1?$/.test(sandbox) ? sandbox : DEFAULT_SANDBOX_FILE;

/** Adds the place to a clause that begins with the path of a setting. */
function toSentence(clause: string, merged: MergedSettings): string {
  const [path = '', ...words] = clause.split(' ');
  return `${merged.describe(path.split('.'))} ${words.join(' ')}.`;
}

function findUpstreamProblems(
  { values, nameOf, describe }: MergedSettings,
  { isRequired }: { isRequired: boolean },
): string[] {
  if (values.upstream !== undefined && values.sandbox !== undefined) {
    const place = describe(['sandbox']).match(/^(.+: )sandbox$/)?.[1];
    const names = `either ${nameOf('upstream')} or ${nameOf('sandbox')}, not both.`;
    return [place === undefined ? `Use ${names}` : `${place}use ${names}`];
  }
  return isRequired && values.upstream === undefined && values.sandbox === undefined
    ? [
        "No upstream is configured. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address. With NODE_ENV=production the sandbox starts only with --sandbox.",
      ]
    : [];
}

function findSandboxProblems(file: string, { values, describe }: MergedSettings): string[] {
  const problem = findSandboxFileProblem(file);
  if (problem === undefined) {
    return [];
  }
  return [`${values.sandbox === undefined ? 'The sandbox' : describe(['sandbox'])}: ${problem}.`];
}

/** Variables that only tests read. */
const TEST_VARIABLE = /^NOTIGRAPH_TEST_/;

/** Returns an error for each unknown variable: a misspelled one would silently have no effect. */
function findUnknownVariables({ values, describe }: Environment): string[] {
  const known = [...SOURCE_VARIABLES, ...VARIABLE_NAMES.map(variableOf)];
  return Object.keys(values)
    .filter((name) => /^NOTIGRAPH_/.test(name) && !known.includes(name) && !TEST_VARIABLE.test(name))
    .map((name) => `${describe(name)} is unknown${suggest(name, known)}. See docs/configuration.md.`);
}
