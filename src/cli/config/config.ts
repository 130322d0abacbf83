import { z } from 'zod';
import { isOrigin } from '../../lib/origins.ts';
import { parseUpstreamUrl } from '../../upstream/transport/address.ts';
import { readArguments } from '../command-line.ts';
import { type Access, findAccessProblems, SERVERS_ALONE, toAccess } from './access.ts';
import { CONFIG_FILES, type ConfigSource, readConfigFile } from './config-file.ts';
import { TUNING, type Tuning, type TuningName, variableOf } from './tuning.ts';

/** What the process shall do; everything that it needs is in here. */
export interface Config {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Processes that serve on the port; auto: as many as run at a time. */
  workers: number | 'auto';
  /** The service's base address, or the embedded sandbox with its database file (`:memory:` keeps nothing). */
  upstream: { kind: 'service'; url: URL } | { kind: 'sandbox'; file: string };
  /** Whether browsers get GraphiQL at the endpoint. */
  graphiql: boolean;
  /** Whether clients may ask for the schema. */
  introspection: boolean;
  /** Exact origins whose pages may call. */
  corsOrigins: string[];
  /** Whether the operator vouches that the service honours `Idempotency-Key`. */
  upstreamIdempotency: boolean;
  /** When a connection to the service may be reused: for any credential, or only for its own. */
  isolateConnections: 'none' | 'credential';
  /** Keeps tenants' names in the log the same over restarts and replicas. */
  logSecret: string | undefined;
  /** Whether it counts, and answers `/metrics`. */
  metrics: boolean;
  /** Whether the process runs in production: the log is JSON even on a terminal. */
  isProduction: boolean;
  /** Limits, times and policies. */
  tuning: Tuning;
  /** Whom it serves and how. */
  access: Access;
  /** The environment variables that the configuration file names. */
  variables: string[];
}

/** What the command line asks for. */
export type Command = { kind: 'help' } | { kind: 'version' } | { kind: 'serve'; config: Config };

/** Every problem of the configuration at once, one sentence each. Values are not repeated: they may hold secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const DEFAULT_SANDBOX_FILE = '.notigraph/sandbox.db';

const MAX_WORKERS = 64;
const WORKERS_PROBLEM = `must be a whole number from 1 to ${MAX_WORKERS}, or auto`;

const onOrOff = z.enum(['on', 'off'], 'must be on or off').transform((value) => value === 'on');

function tuningSettings(): Record<TuningName, z.ZodType<number, string | undefined>> {
  const entries = Object.entries(TUNING).map(([name, { default: fallback, min, max }]) => {
    const problem = `must be a whole number from ${min} to ${max}`;
    const setting = z
      .string()
      .regex(/^\d{1,10}$/, problem)
      .transform(Number)
      .refine((value) => value >= min && value <= max, problem);
    return [name, setting.default(fallback)];
  });
  return Object.fromEntries(entries);
}

/** Reads a setting's text; a problem is a clause that follows the setting's name. */
const settings = z.object({
  upstream: z
    .string()
    .transform((text, ctx) => {
      const parsed = parseUpstreamUrl(text);
      if ('problem' in parsed) {
        ctx.addIssue({ code: 'custom', message: parsed.problem });
        return z.NEVER;
      }
      return parsed.url;
    })
    .optional(),
  sandbox: z
    .string()
    .transform((text) => (/^(?:|1|on|true)$/i.test(text) ? DEFAULT_SANDBOX_FILE : text))
    .optional(),
  port: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number from 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a number from 0 to 65535')
    .default(4000),
  host: z
    .string()
    .regex(/^[\w.:-]+$/, 'must be a host name or an IP address')
    .default('127.0.0.1'),
  workers: z
    .string()
    .regex(/^(?:auto|\d{1,2})$/, WORKERS_PROBLEM)
    .transform((text) => (text === 'auto' ? text : Number(text)))
    .refine((count) => count === 'auto' || (count >= 1 && count <= MAX_WORKERS), WORKERS_PROBLEM)
    .default(1),
  graphiql: onOrOff.optional(),
  introspection: onOrOff.default(true),
  upstreamIdempotency: onOrOff.default(false),
  isolateConnections: z.enum(['none', 'credential'], 'must be none or credential').default('none'),
  metrics: onOrOff.default(true),
  logSecret: z.string().min(16, 'must have 16 characters or more').optional(),
  corsOrigins: z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins such as https://app.example.com, with commas between',
    )
    .default([]),
  ...tuningSettings(),
});

/** Environment variables that only tests read. */
const FOREIGN = /^NOTIGRAPH_TEST_/;

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the command line, the environment and the configuration file; touches nothing else.
 *
 * @param env environment variables; empty ones count as not set
 * @param argv the arguments after the command
 * @param readFile reads a file's text; undefined: there is none that can be read
 * @throws {ConfigError} with every problem at once
 */
export function loadConfig(
  env: Environment,
  argv: readonly string[],
  readFile: (path: string) => string | undefined = () => undefined,
): Command {
  const { values, problems } = readArguments(argv);
  if (values.help) {
    return { kind: 'help' };
  }
  if (values.version) {
    return { kind: 'version' };
  }
  const source = findSource(values.config, env, readFile, problems);
  const file = source && readConfigFile(source, env, (name) => Object.hasOwn(settings.shape, name));
  problems.push(...(file?.problems ?? []));
  const names: Record<string, string> = {};
  const texts: Record<string, string> = {};
  const strengths: Record<string, number> = {};
  for (const name of Object.keys(settings.shape)) {
    const option = Object.entries(values).find(([key]) => key === name)?.[1];
    // From the weakest to the strongest.
    const places = [file?.settings[name], env[variableOf(name)] || undefined, option?.toString()];
    const strength = places.findLastIndex((text) => text !== undefined);
    const text = places[strength];
    names[name] = [`${source?.name}: ${name}`, variableOf(name), `--${name}`][strength] ?? variableOf(name);
    if (text !== undefined && !(name === 'sandbox' && /^(?:0|off|false)$/i.test(text))) {
      texts[name] = text;
      strengths[name] = strength;
    }
  }
  problems.push(...findUnknown(env));
  const { upstream: service = -1, sandbox: embedded = -1 } = strengths;
  if (service !== embedded) {
    delete texts[service > embedded ? 'sandbox' : 'upstream'];
  }
  const parsed = settings.safeParse(texts);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map(({ path, message }) => `${nameOf(path[0], names)} ${message}.`));
  }
  const isProduction = env.NODE_ENV === 'production';
  if (texts.upstream !== undefined && texts.sandbox !== undefined) {
    problems.push(`${names.upstream} and ${names.sandbox} exclude each other: give one of them.`);
  } else if (isProduction && texts.upstream === undefined && texts.sandbox === undefined) {
    problems.push(
      "No upstream is given: set --upstream or NOTIGRAPH_UPSTREAM to the service's base address. With NODE_ENV=production the sandbox starts only when --sandbox asks for it.",
    );
  }
  if (file?.access !== undefined && parsed.success) {
    problems.push(...findAccessProblems(file.access).map((problem) => `${source?.name}: ${problem}.`));
  }
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError(problems);
  }
  const {
    host,
    port,
    workers,
    upstream,
    sandbox,
    graphiql,
    introspection,
    corsOrigins,
    upstreamIdempotency,
    isolateConnections,
    logSecret,
    metrics,
    ...tuning
  } = parsed.data;
  return {
    kind: 'serve',
    config: {
      host,
      port,
      workers,
      upstream:
        upstream === undefined
          ? { kind: 'sandbox', file: sandbox ?? DEFAULT_SANDBOX_FILE }
          : { kind: 'service', url: upstream },
      graphiql: graphiql ?? !isProduction,
      introspection,
      corsOrigins,
      upstreamIdempotency,
      isolateConnections,
      logSecret,
      metrics,
      isProduction,
      tuning,
      access: file?.access === undefined ? SERVERS_ALONE : toAccess(file.access),
      variables: file?.variables ?? [],
    },
  };
}

/** A file or text that is named, or a file of one of the usual names. */
function findSource(
  option: string | undefined,
  env: Environment,
  readFile: (path: string) => string | undefined,
  problems: string[],
): ConfigSource | undefined {
  const path = option ?? (env.NOTIGRAPH_CONFIG || undefined);
  const text = env.NOTIGRAPH_CONFIG_TEXT || undefined;
  if (path !== undefined && text !== undefined) {
    problems.push('A configuration file and NOTIGRAPH_CONFIG_TEXT exclude each other: give one of them.');
    return undefined;
  }
  if (text !== undefined) {
    return { name: 'NOTIGRAPH_CONFIG_TEXT', text };
  }
  if (path !== undefined) {
    const found = readFile(path);
    if (found === undefined) {
      problems.push(`The configuration file ${path} cannot be read.`);
      return undefined;
    }
    return { name: path, text: found, path };
  }
  const found = CONFIG_FILES.flatMap((name) => {
    const content = readFile(name);
    return content === undefined ? [] : [{ name, text: content, path: name }];
  });
  if (found.length > 1) {
    problems.push(`There are several configuration files: keep one of ${found.map(({ name }) => name).join(', ')}.`);
  }
  return found[0];
}

/** A misspelt variable would silently leave a default in force. */
function findUnknown(env: Environment): string[] {
  const known = new Set(['NOTIGRAPH_CONFIG', 'NOTIGRAPH_CONFIG_TEXT', ...Object.keys(settings.shape).map(variableOf)]);
  return Object.keys(env)
    .filter((variable) => variable.startsWith('NOTIGRAPH_') && !known.has(variable) && !FOREIGN.test(variable))
    .map(
      (variable) =>
        `There is no setting ${variable}: see notigraph --help, docs/configuration.md and docs/reliability.md.`,
    );
}

const nameOf = (key: PropertyKey | undefined, names: Readonly<Record<string, string>>): string =>
  names[String(key)] ?? String(key);
