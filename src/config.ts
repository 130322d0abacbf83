import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseUpstreamUrl } from './upstream-url.ts';

/** What the process shall do; everything that it needs is in here. */
export interface Config {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** The service's base address, or the embedded sandbox with its database file (`:memory:` keeps nothing). */
  upstream: { kind: 'service'; url: URL } | { kind: 'sandbox'; file: string };
  /** Whether browsers get GraphiQL at the endpoint. */
  graphiql: boolean;
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

export const HELP = `notigraph: a GraphQL gateway in front of a notification service's /v1 REST API

Usage: notigraph [options]

  --upstream URL     the service's base address              NOTIGRAPH_UPSTREAM
  --sandbox [FILE]   serve the built-in sandbox instead; its  NOTIGRAPH_SANDBOX
                     data is kept in FILE, or nowhere with
                     :memory:            (.notigraph/sandbox.db)
  --port PORT        where to listen; 0: any free port (4000) NOTIGRAPH_PORT
  --host HOST        where to listen             (127.0.0.1)  NOTIGRAPH_HOST
  --graphiql on|off  GraphiQL for browsers        (on, but    NOTIGRAPH_GRAPHIQL
                     off with NODE_ENV=production)
  --help             show this
  --version          show the version

Options win over environment variables, and these over the file .env in the working directory.
Without an upstream the sandbox is served; with NODE_ENV=production, Notigraph refuses to start instead.
`;

const DEFAULT_SANDBOX_FILE = '.notigraph/sandbox.db';

const OPTIONS = {
  upstream: { type: 'string' },
  sandbox: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  graphiql: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

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
    .transform((text) => (/^(?:|1|on|true)$/.test(text) ? DEFAULT_SANDBOX_FILE : text))
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
  graphiql: z
    .enum(['on', 'off'], 'must be on or off')
    .transform((value) => value === 'on')
    .optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;

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
  const names = { upstream: '', sandbox: '', port: '', host: '', graphiql: '' };
  const texts: Record<string, string> = {};
  for (const name of Object.keys(names) as (keyof typeof names)[]) {
    const variable = `NOTIGRAPH_${name.toUpperCase()}`;
    const text = values[name] ?? (env[variable] || undefined);
    names[name] = values[name] === undefined ? variable : `--${name}`;
    if (text !== undefined) {
      texts[name] = text;
    }
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
  const { host, port, upstream, sandbox, graphiql } = parsed.data;
  return {
    kind: 'serve',
    config: {
      host,
      port,
      upstream:
        upstream === undefined
          ? { kind: 'sandbox', file: sandbox ?? DEFAULT_SANDBOX_FILE }
          : { kind: 'service', url: upstream },
      graphiql: graphiql ?? !isProduction,
    },
  };
}

const nameOf = (key: PropertyKey | undefined, names: Readonly<Record<string, string>>): string =>
  names[String(key)] ?? String(key);

type Values = {
  -readonly [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]['type'] extends 'string' ? string : boolean;
};

/** Reads the command line leniently, to say everything that is wrong with it at once. */
function readArguments(argv: readonly string[]): { values: Values; problems: string[] } {
  // `--sandbox` may stand alone; parseArgs knows no optional value.
  const args = argv.map((arg, i) =>
    arg === '--sandbox' && (argv[i + 1] ?? '--').startsWith('--') ? '--sandbox=' : arg,
  );
  const { tokens } = parseArgs({ args, options: OPTIONS, strict: false, allowPositionals: true, tokens: true });
  const values: Values = {};
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind !== 'option') {
      problems.push('There is an argument that belongs to no option: see notigraph --help.');
    } else if (token.name === 'help' || token.name === 'version') {
      values[token.name] = true;
    } else if (!isTextOption(token.name)) {
      problems.push(`There is no option ${token.rawName}: see notigraph --help.`);
    } else if (token.value === undefined || (token.value.startsWith('--') && !token.inlineValue)) {
      problems.push(`${token.rawName} needs a value.`);
    } else {
      values[token.name] = token.value;
    }
  }
  return { values, problems };
}

const isTextOption = (name: string): name is Exclude<keyof typeof OPTIONS, 'help' | 'version'> =>
  Object.hasOwn(OPTIONS, name);
