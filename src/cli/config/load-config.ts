import { suggest, variableOf } from '../../settings/define.ts';
import { membersOf, type Part, partOf, withKind } from '../../settings/kinds.ts';
import { parseSettings, type SettingProblem } from '../../settings/parse.ts';
import { SETTINGS_TABLE, type Settings } from '../../settings/settings.ts';
import type { CommandLine } from '../command.ts';
import { findFileProblems } from './check-files.ts';
import { findSource, readConfigFile, SOURCE_VARIABLES } from './config-file.ts';
import { applyProxyVariables, type Environment, type ReadFile, readConfigText } from './environment.ts';
import { type ModuleSource, SHIPPED_MODULES } from './load-modules.ts';
import { type MergedSettings, mergeSources, VARIABLE_NAMES } from './merge-sources.ts';
import { ConfigError, type Problem, sortProblems } from './problem.ts';

/**
 * Configuration of the process. It is plain data, which workers get as it is, and may contain secrets. Exactly one of `upstream`, `upstreams` and
 * `sandbox` is set.
 */
export interface Config extends Settings, ModuleSource {
  /** Whether the process runs in production. The log is then JSON even on a terminal. */
  isProduction: boolean;
}

export interface Files {
  /** Reads the configuration file and `.env`. */
  read: ReadFile;
  findProblems: typeof findFileProblems;
  /** Whether variables and files with secrets may be missing. @default false */
  withoutSecrets?: boolean;
}

export const FILES: Files = { read: readConfigText, findProblems: findFileProblems };

/** Valid configuration, with what it was made from. */
export interface LoadedConfig extends Pick<MergedSettings, 'values' | 'locate'> {
  config: Config;
}

/**
 * Reads the settings of the command line, the environment and the configuration file, and the files that they refer to. This is the only check
 * of a configuration, whether it is for the start, for `notigraph check` or for another purpose.
 *
 * @param environment environment variables; empty ones count as not set
 * @param files files to read. By default, those on the disk
 * @throws {ConfigError} with all problems
 */
export function loadConfig(
  { options, problems: usage }: Pick<CommandLine, 'options' | 'problems'>,
  environment: Environment,
  files: Files = FILES,
): LoadedConfig {
  const problems: Problem[] = [...usage.map((sentence) => ({ sentence })), ...environment.problems];
  const source = findSource(options.config, environment, files.read, problems);
  const file = source && readConfigFile(source, environment.values, files.withoutSecrets);
  const merged = mergeSources(file, environment, options);
  problems.push(...findUnknownVariables(environment), ...(file?.problems ?? []));

  const isProduction = environment.values.NODE_ENV === 'production';
  const isSandbox = merged.values.upstream === undefined && merged.values.upstreams === undefined;
  const { values, problems: proxyProblems } = applyProxyVariables(
    { graphiql: !isProduction, ...(isSandbox && { sandbox: true }), ...merged.values },
    environment,
  );
  const { settings, problems: invalid = [] } = parseSettings(values);
  const reportedPaths = new Set(file?.problems.map(({ path }) => path.join('.')));
  const isNew = ({ path }: SettingProblem) => !reportedPaths.has(path.join('.'));
  const isComplete = problems.length === 0 || file?.values !== undefined; // Otherwise, the upstream may be in the unreadable file.
  problems.push(
    ...invalid.filter(isNew).map((problem) => toProblem(problem, merged)),
    ...files
      .findProblems(values, settings, files.withoutSecrets)
      .filter(isNew)
      .map((problem) => toProblem(problem, merged, ': ')),
    ...findUpstreamProblems(merged, { isRequired: isProduction && isComplete }),
    ...proxyProblems,
  );
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError(sortProblems(problems));
  }
  // Not before the scopes of clients are checked: a file that uses those of modules must also be valid with a service.
  const modules = isSandbox && values.modules === undefined ? SHIPPED_MODULES : settings.modules;
  const config = { ...settings, modules, source: source?.name, isProduction };
  return { config, values: merged.values, locate: merged.locate };
}

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

/** Variables that aren't part of the configuration: those of tests, and the keys of commands. */
const OTHER_VARIABLE = /^NOTIGRAPH_(?:TEST_|(?:DOCTOR|IMPORT|MCP)_KEY$)/;

/** Returns a problem for each unknown variable: a misspelled one would silently have no effect. */
function findUnknownVariables({ values, nameOf }: Environment): Problem[] {
  const names = [...SOURCE_VARIABLES, ...VARIABLE_NAMES.map(variableOf)];
  return Object.keys(values)
    .filter((name) => /^NOTIGRAPH_/.test(name) && !names.includes(name) && !OTHER_VARIABLE.test(name))
    .map((name) => ({ sentence: `${nameOf(name)} is unknown${suggest(name, names)}. See docs/settings.md.` }));
}

/** Shown in place of secrets, certificates, and addresses that may contain a password. */
const REDACTED = '(not shown)';

/**
 * Describes the configuration for its operators, as JSON: the value of each setting, and where it comes from. A secret in a file is shown as the path
 * of the file, any other is not shown.
 */
export function describeConfig({ config, values, locate }: LoadedConfig): string {
  const { source: _source, isProduction: _isProduction, ...all } = config; // Not settings.
  const settings = membersOf(partOf(SETTINGS_TABLE, all)).map((part): [string, object] => {
    const [name = ''] = part.path;
    const { place, name: origin } = locate([name]);
    const unset = name === 'proxy' ? 'environment' : 'default'; // Only a proxy of HTTPS_PROXY or HTTP_PROXY has a value then.
    const from = values[name] === undefined ? unset : place ? `${place.source}:${place.line}` : origin;
    return [name, { value: redact(part), from }];
  });
  return `${JSON.stringify(Object.fromEntries(settings), null, 2)}\n`;
}

function redact(part: Part): unknown {
  const { value } = part;
  const { category } = withKind(part) ?? {};
  if (typeof value === 'string') {
    const isShown = category === undefined || category === 'path';
    return !isShown ? REDACTED : value.replace(/^(https?:[^?]*\?).+$/, '$1…'); // A query can contain a token.
  }
  if (Array.isArray(value)) {
    return membersOf(part).map(redact);
  }
  return typeof value === 'object' && value !== null && !(value instanceof URL)
    ? Object.fromEntries(membersOf(part).map((member) => [member.path.at(-1), redact(member)]))
    : value;
}
