// Loads the configuration: merges the sources of the settings, and reports all problems at once.

import { z } from 'zod';
import { findFileProblems } from '../../../../src/file-checks.ts';
import { suggest } from '../../../../src/lib/words.ts';
import { SHIPPED_MODULES } from '../../../../src/modules/shipped.ts';
import type { SettingProblem } from '../../../../src/settings/define.ts';
import { findConflicts, parseSettings } from '../../../../src/settings/parse.ts';
import type { CommandLine } from '../command.ts';
import { findFileProblem } from '../files.ts';
import { type ConfigFile, findSource, readConfigFile, SOURCE_VARIABLES } from './config-file.ts';
import {
  applyProxyVariables,
  type Environment,
  type ReadFile,
  readConfigText,
  readEnvironment,
} from './environment.ts';
import type { ModuleSource } from './load-modules.ts';
import {
  findPartsOfKinds,
  formsOf,
  membersOf,
  type Part,
  type PartOfKind,
  partOf,
  replaceIn,
  withKind,
} from './parts.ts';
import { ConfigError, type Locate, MAX_PROBLEMS, type Problem, problemOf, sortProblems } from './problem.ts';
import {
  countWorkers,
  optionOf,
  SECTION_NAMES,
  SETTINGS,
  SETTINGS_TABLE,
  type SettingName,
  type Settings,
  sandboxFileOf,
  variableOf,
} from './settings.ts';

/**
 * Configuration of the process. It is plain data, which workers get as it is, and may contain secrets. Exactly one of `upstream`, `upstreams` and
 * `sandbox` is set.
 */
export interface Config extends Settings, ModuleSource {
  /** Whether the process runs in production. The log is then JSON even on a terminal. */
  isProduction: boolean;
}

interface Files {
  /** Reads the configuration file and `.env`. @default from the disk */
  read?: ReadFile;
  /** Whether to read the other files, and look for packages. @default true */
  checks?: boolean;
  /** Whether variables and files with secrets may be missing. @default false */
  withoutSecrets?: boolean;
}

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
  { read = readConfigText, checks = true, withoutSecrets = false }: Files = {},
): LoadedConfig {
  const problems: Problem[] = [...usage.map((sentence) => ({ sentence })), ...environment.problems];
  const source = findSource(options.config, environment, read, problems);
  const file = source && readConfigFile(source, environment.values, withoutSecrets);
  const merged = mergeSources(file, environment, options);
  const { locate } = merged;
  problems.push(...findUnknownVariables(environment), ...(file?.problems ?? []));

  const isProduction = environment.values.NODE_ENV === 'production';
  const isSandbox = merged.values.upstream === undefined && merged.values.upstreams === undefined;
  const { values, problems: proxyProblems } = applyProxyVariables(
    { graphiql: !isProduction, ...(isSandbox && { sandbox: true }), ...merged.values },
    environment,
  );
  const { settings, problems: invalid = [] } = parseSettings(values, SETTINGS_TABLE, findAllConflicts);
  const reported = new Set(file?.problems.map(({ path }) => path.join('.')));
  /** Adds the problems of settings that have none yet. */
  const add = (found: readonly SettingProblem[], separator: string) => {
    for (const { path, at, message } of found.filter(({ path }) => !reported.has(path.join('.')))) {
      reported.add(path.join('.'));
      problems.push(problemOf(locate(path, at), `${separator} ${message}`));
    }
  };
  add(invalid, '');
  const parts = checks ? findPartsOfKinds(partOf(SETTINGS_TABLE, values)) : [];
  add([...findFileProblems(parts, settings, withoutSecrets), ...parts.flatMap(checkSandbox)], ':');
  const isComplete = problems.length === 0 || file?.values !== undefined; // Otherwise, the upstream may be in the unreadable file.
  problems.push(...findUpstreamProblems(merged, isProduction && isComplete), ...proxyProblems);
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError(sortProblems(problems));
  }
  // Not before the scopes of clients are checked: a file that uses those of modules must also be valid with a service.
  const modules = isSandbox && values.modules === undefined ? SHIPPED_MODULES : settings.modules;
  const config = { ...settings, modules, source: source?.name, isProduction };
  return { config, values: merged.values, locate };
}

/** Loads the configuration for its modules, without those that the sandbox has by default. Neither its secrets nor an upstream need to be there. */
export function loadForModules(
  { options: { federation: _, ...options }, problems }: Pick<CommandLine, 'options' | 'problems'>, // Not the setting of this name.
  env: Environment['values'],
): Pick<LoadedConfig, 'config' | 'locate'> {
  const environment = readEnvironment({ ...env, NODE_ENV: undefined });
  const { config, values, locate } = loadConfig({ options, problems }, environment, {
    checks: false,
    withoutSecrets: true,
  });
  return { config: { ...config, modules: values.modules === undefined ? [] : config.modules }, locate };
}

/** Returns the settings that contradict each other or miss another one: those of the gateway, and of the process. */
export function findAllConflicts(settings: Settings): SettingProblem[] {
  const processes = countWorkers(settings.workers);
  const message = `uses the store memory, which requires a single worker; use cache.store.redis, or set workers to 1 instead of ${processes}`;
  return [
    ...findConflicts(settings),
    ...(isSameAddress(settings) ? [{ path: ['adminPort'], message: 'must differ from port' }] : []),
    ...(settings.cache && settings.cache.store === 'memory' && processes > 1 ? [{ path: ['cache'], message }] : []),
  ];
}

/** Whether both ports are the same, on hosts that overlap. */
function isSameAddress({ host, port, adminHost, adminPort }: Settings): boolean {
  const isEveryHost = [host, adminHost].some((name) => name === '0.0.0.0' || name === '::');
  return port !== 0 && port === adminPort && (host === adminHost || isEveryHost);
}

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Settings that have a variable. Sections can only be set in the configuration file. */
export const VARIABLE_NAMES = SETTING_NAMES.filter((name) => !SECTION_NAMES.includes(name));

/** Indexes of sources in ascending order of precedence, after the file. */
const VARIABLE = 1;
const OPTION = 2;

/** Merges the configuration file, environment variables and command-line options. Later ones override earlier ones. */
function mergeSources(file: ConfigFile | undefined, environment: Environment, options: CommandLine['options']) {
  const values: Record<string, unknown> = {};
  const sources: Record<string, number> = {};
  for (const name of SETTING_NAMES) {
    const variable = VARIABLE_NAMES.includes(name) ? environment.values[variableOf(name)] || undefined : undefined;
    const candidates = [file?.values?.[name], variable, options[optionOf(name)]];
    const source = candidates.findLastIndex((candidate) => candidate !== undefined);
    const value = candidates[source];
    const converted = typeof value === 'string' ? fromText(name, value) : value;
    // `NOTIGRAPH_SANDBOX=0` means `off`, although a file could have that name.
    if (converted !== undefined && !(name === 'sandbox' && (converted === false || converted === '0'))) {
      values[name] = converted;
      sources[name] = source;
    }
  }
  const { upstream = -1, sandbox = -1 } = sources;
  if (upstream !== sandbox) {
    delete values[upstream > sandbox ? 'sandbox' : 'upstream'];
  }
  /** Names a setting without its location. */
  const nameOf = (name: string) => [name, variableOf(name), `--${optionOf(name)}`][sources[name] ?? VARIABLE] ?? name;
  const locate: Locate = (path, at = path) => {
    const [name = '', ...inner] = path.map(String);
    switch (sources[name]) {
      case VARIABLE:
        return { name: environment.nameOf(variableOf(name), inner[0]) };
      case OPTION:
        return { name: [nameOf(name), ...inner].join('.') };
      default:
        return name === 'sandbox' && values.sandbox === undefined
          ? { name: 'The sandbox' }
          : { place: file?.placeOf(at), name: [name, ...inner].join('.') };
    }
  };
  return { values, locate, nameOf };
}

type MergedSettings = ReturnType<typeof mergeSources>;

/** Converts the text of an option or variable to a type that the setting's schema accepts. Returns the text unchanged if none matches. */
function fromText(name: SettingName, text: string): unknown {
  const forms = formsOf(SETTINGS[name]);
  if (forms.some((form) => form instanceof z.ZodBoolean) && /^(?:on|off|true|false)$/i.test(text)) {
    return /^(?:on|true)$/i.test(text);
  }
  if (forms.some((form) => form instanceof z.ZodNumber) && /^\d{1,10}(?:\.\d{1,10})?$/.test(text)) {
    return Number(text);
  }
  const items = text === 'off' ? [] : text.split(',').map((item) => item.trim());
  return forms.some((form) => form instanceof z.ZodArray) ? items : text;
}

function findUpstreamProblems({ values, nameOf, locate }: MergedSettings, isRequired: boolean): Problem[] {
  if (values.upstream !== undefined && values.sandbox !== undefined) {
    const { place } = locate(['sandbox']);
    const use = place === undefined ? 'Use' : 'use'; // The place is the beginning of the line.
    return [{ place, sentence: `${use} either ${nameOf('upstream')} or ${nameOf('sandbox')}, not both.` }];
  }
  if (values.upstreams !== undefined && values.sandbox !== undefined) {
    return [problemOf(locate(['upstreams']), ` cannot be combined with ${nameOf('sandbox')}. Remove one of them`)];
  }
  const isMissing = [values.upstream, values.upstreams, values.sandbox].every((value) => value === undefined);
  const sentence =
    "No upstream is configured. Set --upstream or NOTIGRAPH_UPSTREAM to the service's base address. With NODE_ENV=production the sandbox starts only with --sandbox.";
  return isRequired && isMissing ? [{ sentence }] : [];
}

function checkSandbox({ kind, path, value }: PartOfKind): SettingProblem[] {
  const isFile = kind === 'sandbox' && (typeof value === 'string' || typeof value === 'boolean');
  const file = isFile ? sandboxFileOf(value) : ':memory:';
  const message = file === ':memory:' ? undefined : findFileProblem(file);
  return message === undefined ? [] : [{ path, message }];
}

/** Variables that aren't part of the configuration: those of tests, and the keys of commands. */
const OTHER_VARIABLE = /^NOTIGRAPH_(?:TEST_|(?:DOCTOR|IMPORT|MCP)_KEY$)/;

/** Returns a problem for each unknown variable: a misspelled one would silently have no effect. */
function findUnknownVariables({ values, nameOf }: Environment): Problem[] {
  const names = [...SOURCE_VARIABLES, ...VARIABLE_NAMES.map(variableOf)];
  return Object.keys(values)
    .filter((name) => /^NOTIGRAPH_/.test(name) && !names.includes(name) && !OTHER_VARIABLE.test(name))
    .map((name, i) => {
      const meant = suggest(name, i < MAX_PROBLEMS ? names : []);
      return { sentence: `${nameOf(name)} is unknown${meant}. See docs/settings.md.` };
    });
}

/** Shown in place of secrets, certificates, and addresses that may contain a password. */
const REDACTED = '(not shown)';

/**
 * Describes the configuration for its operators, as JSON: the value of each setting, and where it comes from. A secret in a file is shown as the path
 * of the file, any other is not shown.
 */
export function describeConfig({ config, values, locate }: LoadedConfig): string {
  const all = membersOf(partOf(SETTINGS_TABLE, config)).map((part): [string, object] => {
    const [name = ''] = part.path;
    const { place, name: origin } = locate([name]);
    const unset = name === 'proxy' ? 'environment' : 'default'; // Only a proxy of HTTPS_PROXY or HTTP_PROXY has a value then.
    const from = values[name] === undefined ? unset : place ? `${place.source}:${place.line}` : origin;
    return [name, { value: replaceIn(part, redact), from }];
  });
  const settings = all.filter(([name]) => Object.hasOwn(SETTINGS, name)); // Without the texts of modules.
  return `${JSON.stringify(Object.fromEntries(settings), null, 2)}\n`;
}

/** Returns what is shown in place of a text; undefined for other values. */
function redact(part: Part): string | undefined {
  const { value } = part;
  if (typeof value !== 'string') {
    return undefined;
  }
  const { category = 'path' } = withKind(part) ?? {};
  return category === 'path' ? value.replace(/^(https?:[^?]*\?).+$/, '$1…') : REDACTED; // A query can contain a token.
}
