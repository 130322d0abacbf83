import { z } from 'zod';
import { readArguments } from './command-line.ts';
import { TUNING, type Tuning, type TuningName, variableOf } from './tuning.ts';
import { parseUpstreamUrl } from './upstream-url.ts';

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
  /** Keeps tenants' names in the log the same over restarts and replicas. */
  logSecret: string | undefined;
  /** Whether it counts, and answers `/metrics`. */
  metrics: boolean;
  /** Whether the process runs in production: the log is JSON even on a terminal. */
  isProduction: boolean;
  /** Limits, times and policies. */
  tuning: Tuning;
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

/** An origin as browsers send it: scheme, host and port, and nothing else. */
function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text && text !== 'null';
}

/** Environment variables that only tests read. */
const FOREIGN = /^NOTIGRAPH_TEST_/;

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the command line and the environment; touches nothing else.
 *
 * @param env environment variables; empty ones count as not set
 * @param argv the arguments after the command
 * @throws {ConfigError} with every problem at once
 */
export function loadConfig(env: Environment, argv: readonly string[]): Command {
  const { values, problems } = readArguments(argv);
  if (values.help) {
    return { kind: 'help' };
  }
  if (values.version) {
    return { kind: 'version' };
  }
  const names: Record<string, string> = {};
  const texts: Record<string, string> = {};
  for (const name of Object.keys(settings.shape)) {
    const variable = variableOf(name);
    const option = Object.entries(values).find(([key]) => key === name)?.[1];
    const text = typeof option === 'string' ? option : env[variable] || undefined;
    names[name] = typeof option === 'string' ? `--${name}` : variable;
    if (text !== undefined && !(name === 'sandbox' && /^(?:0|off|false)$/i.test(text))) {
      texts[name] = text;
    }
  }
  problems.push(...findUnknown(env));
  // An option wins over the other one's variable too.
  if (values.upstream !== undefined && values.sandbox === undefined) {
    delete texts.sandbox;
  } else if (values.upstream === undefined && values.sandbox !== undefined && texts.sandbox !== undefined) {
    delete texts.upstream;
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
      logSecret,
      metrics,
      isProduction,
      tuning,
    },
  };
}

/** A misspelt variable would silently leave a default in force. */
function findUnknown(env: Environment): string[] {
  const known = new Set(Object.keys(settings.shape).map(variableOf));
  return Object.keys(env)
    .filter((variable) => variable.startsWith('NOTIGRAPH_') && !known.has(variable) && !FOREIGN.test(variable))
    .map((variable) => `There is no setting ${variable}: see notigraph --help and docs/reliability.md.`);
}

const nameOf = (key: PropertyKey | undefined, names: Readonly<Record<string, string>>): string =>
  names[String(key)] ?? String(key);
