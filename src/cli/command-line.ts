import { parseArgs } from 'node:util';

export const HELP = `notigraph: a GraphQL gateway in front of a notification service's /v1 REST API

Usage: notigraph [options]

  --upstream URL     the service's base address               NOTIGRAPH_UPSTREAM
  --sandbox [FILE]   serve the built-in sandbox instead; its  NOTIGRAPH_SANDBOX
                     data is kept in FILE, or nowhere with
                     :memory: (.notigraph/sandbox.db)
  --port PORT        where to listen; 0: any free port (4000) NOTIGRAPH_PORT
  --host HOST        where to listen (127.0.0.1)              NOTIGRAPH_HOST
  --workers N|auto   how many processes serve; auto: one for  NOTIGRAPH_WORKERS
                     each CPU (1)
  --graphiql on|off  GraphiQL for browsers (on, but off with  NOTIGRAPH_GRAPHIQL
                     NODE_ENV=production)
  --config FILE      the configuration file: whom to serve    NOTIGRAPH_CONFIG
                     besides servers, and all of the above
                     (notigraph.config.yaml, where there is one)
  --help             show this
  --version          show the version

More by environment variables alone:

  NOTIGRAPH_CONFIG_TEXT            a configuration file's text, in its stead
  NOTIGRAPH_CORS_ORIGINS           origins whose pages may call, by commas
  NOTIGRAPH_INTROSPECTION          on or off: may clients see the schema (on)
  NOTIGRAPH_UPSTREAM_IDEMPOTENCY   on or off: the service honours keys: writes
                                   with one may be repeated (off)
  NOTIGRAPH_ISOLATE_CONNECTIONS    none, or credential: never reuse a connection
                                   to the service for another key (none)
  NOTIGRAPH_LOG_SECRET             keeps tenants' names in the log the same
  NOTIGRAPH_METRICS                on or off: figures at /metrics (on)
  NODE_ENV                         production: no sandbox or GraphiQL unasked

Limits, times and policies have variables too: see docs/reliability.md.
Frontends, tokens, trusted documents, rate limits: docs/configuration.md.

Options win over environment variables, these over the file .env in the
working directory, and that over the configuration file. Without an
upstream the sandbox is served; with NODE_ENV=production, Notigraph
refuses to start instead.
`;

/** The options that the command takes. */
const OPTIONS = {
  upstream: { type: 'string' },
  sandbox: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  workers: { type: 'string' },
  graphiql: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

/** The options that were given; one without a value is empty. */
export type Values = {
  -readonly [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]['type'] extends 'string' ? string : boolean;
};

/** Reads the command line leniently, to say everything that is wrong with it at once. */
export function readArguments(argv: readonly string[]): { values: Values; problems: string[] } {
  // An option without a value gets an empty one: parseArgs knows no optional value, and would take the next option for it.
  const args = argv.map((arg, i) =>
    arg.startsWith('--') && isTextOption(arg.slice(2)) && (argv[i + 1] ?? '--').startsWith('--') ? `${arg}=` : arg,
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
    } else if (!token.value && token.name !== 'sandbox') {
      problems.push(`--${token.name} needs a value.`);
    } else {
      values[token.name] = token.value ?? '';
    }
  }
  return { values, problems };
}

const isTextOption = (name: string): name is Exclude<keyof typeof OPTIONS, 'help' | 'version'> =>
  Object.hasOwn(OPTIONS, name) && name !== 'help' && name !== 'version';
