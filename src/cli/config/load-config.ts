import { findConflicts } from '../../settings/conflicts.ts';
import { parseSettings, type SettingProblem } from '../../settings/parse-settings.ts';
import { suggest, variableOf } from '../../settings/setting.ts';
import type { CommandLine } from '../command.ts';
import { countWorkers } from '../count-workers.ts';
import { findSandboxFileProblem } from '../sandbox-file.ts';
import { readConfigFile } from './config-file.ts';
import { findSource, SOURCE_VARIABLES } from './config-source.ts';
import { type Config, createConfig, sandboxFileOf } from './create-config.ts';
import type { Environment } from './environment.ts';
import { type MergedSettings, mergeSources, SETTING_NAMES, VARIABLE_NAMES } from './merge-sources.ts';
import { ConfigError, type Problem, sortProblems } from './problem.ts';
import { applyProxyVariables } from './proxy-variables.ts';
import type { ReadFile } from './read-config-text.ts';

/** Access to the files of a configuration. */
export interface Files {
  /** Reads the configuration file and `.env`. */
  read: ReadFile;
  /** Returns the problems of all files that settings refer to. The settings may be invalid. */
  findProblems(values: Readonly<Record<string, unknown>>): readonly SettingProblem[];
}

/** Valid configuration, with what it was made from. */
export interface CheckedConfig extends Pick<MergedSettings, 'values' | 'locate'> {
  config: Config;
}

/** Returns the configuration without what it was made from. Takes and throws the same as `checkConfig`. */
export const loadConfig = (...sources: Parameters<typeof checkConfig>): Config => checkConfig(...sources).config;

/**
 * Reads the settings of the command line, the environment and the configuration file, and the files that they refer to. This is the only check
 * of a configuration, whether it is for the start, for `notigraph check` or for another purpose.
 *
 * @param environment environment variables; empty ones count as not set
 * @throws {ConfigError} with all problems
 */
export function checkConfig(
  { options, problems: usage }: Pick<CommandLine, 'options' | 'problems'>,
  environment: Environment,
  files: Files,
): CheckedConfig {
  const problems: Problem[] = [...usage.map((sentence) => ({ sentence })), ...environment.problems];
  const source = findSource(options.config, environment, files.read, problems);
  const file = source && readConfigFile(source, environment.values, SETTING_NAMES);
  const merged = mergeSources(file, environment, options);
  problems.push(...findUnknownVariables(environment), ...(file?.problems ?? []));

  const isProduction = environment.values.NODE_ENV === 'production';
  const { sandbox, ...configured }: Record<string, unknown> = { graphiql: !isProduction, ...merged.values };
  const { values: given, problems: proxyProblems } = applyProxyVariables(configured, environment);
  const { settings, problems: invalid = [] } = parseSettings(given);
  const known = new Set(file?.problems.map(({ path }) => path));
  const isNew = ({ path }: SettingProblem) => !known.has(path.join('.'));
  const isComplete = problems.length === 0 || file?.values !== undefined; // Otherwise, the upstream may be in the unreadable file.
  problems.push(
    ...invalid.filter(isNew).map((problem) => toProblem(problem, merged)),
    ...files
      .findProblems(given)
      .filter(isNew)
      .map((problem) => toProblem(problem, merged, ': ')),
    ...findUpstreamProblems(merged, { isRequired: isProduction && isComplete }),
    ...proxyProblems,
    ...(given.upstream === undefined && given.upstreams === undefined ? findSandboxProblems(merged) : []),
    ...(settings === undefined ? [] : findConflicts({ ...settings, workers: countWorkers(settings.workers) }))
      .map(splitClause)
      .filter(isNew)
      .map((problem) => toProblem(problem, merged)),
  );
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError(sortProblems(problems, source?.name));
  }
  const values = { ...given, ...(sandbox !== undefined && { sandbox }) };
  const config = createConfig({ values, source: source?.name, isProduction });
  return { config, values: merged.values, locate: merged.locate };
}

/** Separates the path of a setting from the clause that begins with it. */
function splitClause(clause: string): SettingProblem {
  const [path = '', ...words] = clause.split(' ');
  return { path: path.split('.'), message: words.join(' ') };
}

/** Adds the location of a setting to its problem. */
function toProblem(
  { path, at, message }: SettingProblem,
  { locate }: Pick<MergedSettings, 'locate'>,
  separator = ' ',
): Problem {
  const { place, name } = locate(path, at);
  return { place, sentence: `${name}${separator}${message}.` };
}

function findUpstreamProblems(
  { values, nameOf, locate }: MergedSettings,
  { isRequired }: { isRequired: boolean },
): Problem[] {
  if (values.upstream !== undefined && values.sandbox !== undefined) {
    const { place } = locate(['sandbox']);
    const use = place === undefined ? 'Use' : 'use'; // The place is the beginning of the line.
    return [{ place, sentence: `${use} either ${nameOf('upstream')} or ${nameOf('sandbox')}, not both.` }];
  }
  if (values.upstreams !== undefined && values.sandbox !== undefined) {
    const { place, name } = locate(['upstreams']);
    return [{ place, sentence: `${name} cannot be combined with ${nameOf('sandbox')}. Remove one of them.` }];
  }
  return isRequired && [values.upstream, values.upstreams, values.sandbox].every((value) => value === undefined)
    ? [
        {
          sentence:
            "No upstream is configured. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address. With NODE_ENV=production the sandbox starts only with --sandbox.",
        },
      ]
    : [];
}

function findSandboxProblems({ values, locate }: MergedSettings): Problem[] {
  const problem = findSandboxFileProblem(sandboxFileOf(values));
  if (problem === undefined) {
    return [];
  }
  const { place, name } = values.sandbox === undefined ? { name: 'The sandbox' } : locate(['sandbox']);
  return [{ place, sentence: `${name}: ${problem}.` }];
}

/** Variables that aren't part of the configuration: those of tests, and the keys of commands. */
const OTHER_VARIABLE = /^NOTIGRAPH_(?:TEST_|(?:DOCTOR|IMPORT|MCP)_KEY$)/;

/** Returns a problem for each unknown variable: a misspelled one would silently have no effect. */
function findUnknownVariables({ values, locate }: Environment): Problem[] {
  const known = [...SOURCE_VARIABLES, ...VARIABLE_NAMES.map(variableOf)];
  return Object.keys(values)
    .filter((name) => /^NOTIGRAPH_/.test(name) && !known.includes(name) && !OTHER_VARIABLE.test(name))
    .map((name) => {
      const { place, name: shown } = locate(name);
      return { place, sentence: `${shown} is unknown${suggest(name, known)}. See docs/configuration.md.` };
    });
}
