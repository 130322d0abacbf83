import { z } from 'zod';
import { clientSections, origins } from './clients.ts';
import { choice, group, integer, onOff, type SettingGroup, setting, text } from './setting.ts';
import { upstreamUrl } from './upstream-url.ts';

/**
 * The settings table: every setting once, with its type, range, default, description and target. The options of the command, environment
 * variables, the configuration file, `--help`, docs/configuration.md, the JSON Schema and the options of `createGateway` follow from it.
 *
 * A name ends with its unit: `Ms` (milliseconds), `Seconds`, `Bytes` or `Percent`.
 */

const MIB = 1024 * 1024;
const HOST = 'must be a host name or an IP address';
const WORKERS = 'must be a whole number from 1 to 64, or auto';
const ENDPOINT = 'must be a path such as /graphql, other than /livez, /readyz, /metrics and /client-tokens';
const RELOAD = 'must be a number from 0.01 to 86400';
const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const LOG_SECRET = 'must have at least 16 characters';

/** Settings of the process that the command starts. */
const command = {
  sandbox: setting(
    z.union([z.boolean(), z.string()], 'must be a path, on or off').exactOptional(),
    'Serves the built-in sandbox and keeps its data in FILE; `:memory:` keeps it in memory.',
    { flag: '[FILE]', defaultText: '`.notigraph/sandbox.db` if there is no upstream' },
  ),
  port: setting(integer(0, 65_535).default(4_000), 'Port to listen on. 0 picks a free one.', {
    flag: 'PORT',
    short: 'p',
  }),
  host: setting(
    z
      .string(HOST)
      .regex(/^[\w.:-]+$/, HOST)
      .default('127.0.0.1'),
    'Address to listen on. `0.0.0.0` listens on all addresses.',
    { flag: 'HOST' },
  ),
  workers: setting(
    z.union([integer(1, 64, WORKERS), z.literal('auto')], WORKERS).default(1),
    'Processes that serve the port. `auto` starts one per CPU.',
    { flag: 'N|auto' },
  ),
  logLevel: setting(
    choice(LOG_LEVELS).default('info'),
    'Least important lines that are logged. `info` logs every operation, `debug` also its REST calls.',
    { flag: LOG_LEVELS.join('|') },
  ),
};

const general = {
  upstream: setting(upstreamUrl, 'Base address of the service. May have a path prefix.', { flag: 'URL' }),
  endpoint: setting(
    z
      .string(ENDPOINT)
      .regex(/^\/(?!(?:livez|readyz|metrics|client-tokens)$)[\w./~-]*$/, ENDPOINT)
      .default('/graphql'),
    'Path of the GraphQL endpoint.',
  ),
  graphiql: setting(
    z
      .union(
        [
          onOff(),
          group({
            authorization: setting(
              text().exactOptional(),
              'Value of the header `Authorization`, filled in for every visitor. Without it, the page asks for a credential.',
              { defaultText: 'none' },
            ),
            sandbox: setting(onOff().default(false), 'Whether the page says that the service is a sandbox.'),
          }),
        ],
        'must be on or off (true or false)',
      )
      .default(false),
    'Whether browsers get GraphiQL at the endpoint.',
    { flag: 'on|off', defaultText: '`on`, but `off` in production and in `createGateway`' },
  ),
  introspection: setting(onOff().default(true), 'Whether clients can query the schema.'),
  corsOrigins: setting(
    origins().default([]),
    'Allowed CORS origins for any credential. Comma-separated in a variable.',
  ),
  logSecret: setting(
    z.string(LOG_SECRET).min(16, LOG_SECRET).exactOptional(),
    "Secret that keeps tenants' names in the log the same across restarts and replicas.",
    { defaultText: 'random' },
  ),
  metrics: setting(
    onOff().default(true),
    'Whether operations and upstream requests are counted. The command then answers `GET /metrics`.',
  ),
  reloadSeconds: setting(
    z.number(RELOAD).min(0.01, RELOAD).max(86_400, RELOAD).default(10),
    'Interval at which files of keys, secrets and manifests are checked for changes.',
  ),
};

const upstreamCalls = {
  operationTimeoutMs: setting(
    integer(10, 600_000).default(15_000),
    'Time limit of an operation, with waiting, pauses and retries. Unfinished fields are `UPSTREAM_TIMEOUT`; the other data is returned.',
  ),
  attemptTimeoutMs: setting(
    integer(50, 600_000).default(6_000),
    'Time limit of one request, to the end of the response body.',
  ),
  connectTimeoutMs: setting(integer(50, 60_000).default(2_000), 'Time limit for opening a connection.'),
  headersTimeoutMs: setting(
    integer(50, 600_000).default(5_000),
    'Time limit from sending a request to its response headers.',
  ),
  maxRetries: setting(
    integer(0, 10).default(2),
    'Maximum retries of a call. Reads and `PUT …/status` are retried after 502, 503, 504, a reset or a timeout; other writes only if they cannot have been applied.',
  ),
  retryBaseDelayMs: setting(
    integer(1, 10_000).default(100),
    'Maximum first pause before a retry. It is random and doubles each time.',
  ),
  retryMaxDelayMs: setting(integer(1, 60_000).default(1_000), 'Upper bound of the pauses.'),
  maxRetryAfterSeconds: setting(
    integer(0, 60).default(2),
    'Longest `Retry-After` that is waited for. A longer one is passed on to the client.',
  ),
  retryBudgetPercent: setting(integer(0, 100).default(20), 'Maximum in-flight retries, as a share of in-flight calls.'),
  retryBudgetFloor: setting(integer(0, 1_000).default(3), 'In-flight retries that are always allowed.'),
  breakerPercent: setting(
    integer(1, 100).default(50),
    'Share of calls without a connection or with 502, 503 or 504 that opens the circuit breaker.',
  ),
  breakerMinimumCalls: setting(
    integer(1, 100_000).default(20),
    'Minimum calls in the window for the circuit breaker to open.',
  ),
  breakerWindowMs: setting(integer(100, 600_000).default(10_000), 'Window in which calls count.'),
  breakerOpenMs: setting(
    integer(10, 600_000).default(2_000),
    'Time that the circuit breaker stays open before it lets one call through. Doubles with each failure.',
  ),
  breakerMaxOpenMs: setting(integer(10, 600_000).default(8_000), 'Upper bound of that time.'),
  sockets: setting(integer(1, 10_000).default(64), 'Maximum connections to the service (HTTP/1.1).'),
  socketIdleMs: setting(
    integer(1, 600_000).default(4_000),
    'Time after which an idle connection is closed. Services close theirs after 5 s or more.',
  ),
  isolateConnections: setting(
    choice(['none', 'credential']).default('none'),
    'Whether a connection can be reused for [another API key](reliability.md#responses-and-credentials): `none` reuses it, `credential` never does.',
  ),
  maxConcurrentCallsPerKey: setting(integer(1, 10_000).default(10), 'Maximum in-flight calls per API key.'),
  maxQueuedCallsPerKey: setting(
    integer(0, 100_000).default(100),
    'Maximum queued calls per API key. One more is `OVERLOADED` and not sent.',
  ),
  maxUpstreamCalls: setting(
    integer(1, 10_000).default(50),
    'Maximum calls per operation. One more is `BUDGET_EXCEEDED` and not sent.',
  ),
  maxBulkItems: setting(
    integer(1, 10_000).default(100),
    'Maximum items of bulk mutations per operation. They do not count as calls.',
  ),
  maxUpstreamBodyBytes: setting(
    integer(1_024, 1_024 * MIB).default(5 * MIB),
    'Maximum size of a response body. A larger one is `UPSTREAM_BAD_RESPONSE`.',
  ),
  maxUpstreamListItems: setting(
    integer(1, 1_000_000).default(10_000),
    'Maximum items of a list in a response. A longer one is `UPSTREAM_BAD_RESPONSE`.',
  ),
  upstreamIdempotency: setting(
    onOff().default(false),
    'Whether the service honors `Idempotency-Key`. Writes that carry one are then retried like reads.',
  ),
};

const operations = {
  maxDocumentCharacters: setting(
    integer(256, 64 * MIB).default(32 * 1_024),
    'Maximum length of a document, with comments. A document beyond this or another limit of documents is `DOCUMENT_LIMIT_EXCEEDED`.',
  ),
  maxTokens: setting(integer(10, 1_000_000).default(1_000), 'Maximum tokens of a document.'),
  maxDepth: setting(integer(1, 1_000).default(10), 'Maximum depth of nested fields.'),
  maxAliases: setting(integer(0, 10_000).default(30), 'Maximum aliases.'),
  maxRootFields: setting(integer(1, 10_000).default(20), 'Maximum root fields.'),
  maxFields: setting(integer(1, 1_000_000).default(500), 'Maximum fields, with fragments spread out.'),
  maxDirectives: setting(integer(0, 10_000).default(10), 'Maximum directives.'),
  maxInputListItems: setting(
    integer(1, 1_000_000).default(1_000),
    'Maximum items of a list in a variable. A longer one is `BAD_USER_INPUT`.',
  ),
  maxErrors: setting(
    integer(1, 10_000).default(100),
    'Maximum errors of a result. Execution stops at this and the next two limits, and one more error says so (`RESULT_LIMIT_EXCEEDED`).',
  ),
  maxResultValues: setting(
    integer(1_000, 100_000_000).default(250_000),
    'Maximum values of a result. Every field and every list item is one.',
  ),
  maxResponseBytes: setting(integer(1_024, 1_024 * MIB).default(4 * MIB), 'Maximum size of a response.'),
};

/** Limits that the gateway and its server share. */
const memory = {
  maxBodyBytes: setting(
    integer(1_024, 64 * MIB).default(MIB / 4),
    'Maximum size of a request body. A larger one is 413.',
  ),
  maxBufferedBytes: setting(
    integer(MIB, 65_536 * MIB).default(64 * MIB),
    'Maximum bytes of requests and responses in memory, including those of the service. Beyond it, slow clients are disconnected, requests are 503, and responses of the service that do not fit are `OVERLOADED`.',
  ),
};

const httpServer = {
  maxInFlightRequests: setting(
    integer(1, 100_000).default(512),
    'Maximum requests that have arrived completely and are being answered. One more is 503 with `Retry-After`.',
  ),
  maxEventLoopDelayMs: setting(
    integer(10, 60_000).default(200),
    'Delay of the event loop above which requests are 503.',
  ),
  maxHeapPercent: setting(integer(10, 100).default(85), 'Share of the heap in use above which requests are 503.'),
  clientHeadersTimeoutMs: setting(
    integer(100, 600_000).default(10_000),
    "Time limit for receiving a request's headers (at most 16 KiB, else 431).",
  ),
  clientRequestTimeoutMs: setting(integer(100, 600_000).default(30_000), 'Time limit for receiving a whole request.'),
  clientStallTimeoutMs: setting(
    integer(300, 600_000).default(30_000),
    'Period in which a client that sends a request or reads a response must keep `clientMinBytesPerSecond`. Slower clients are disconnected.',
  ),
  clientMinBytesPerSecond: setting(
    integer(0, 1_000_000).default(100),
    'Average speed that a client must keep. At 0, it must transfer one byte per period.',
  ),
  maxConnections: setting(
    integer(10, 1_000_000).default(10_000),
    'Maximum open connections of clients. One more closes the slowest.',
  ),
  lameDuckMs: setting(
    integer(0, 60_000).default(500),
    'Time after SIGTERM in which new requests are still answered, with 503.',
  ),
  drainTimeoutMs: setting(
    integer(0, 600_000).default(20_000),
    'Time after SIGTERM in which in-flight requests can finish.',
  ),
};

/** Groups of settings, in the order of docs/configuration.md, with the parts of the program that they configure. */
export const SETTING_GROUPS = [
  { title: 'Command', appliesTo: ['process'], settings: command },
  { title: 'General', appliesTo: ['gateway'], settings: general },
  { title: 'Clients, tokens and documents', appliesTo: ['gateway'], settings: clientSections },
  { title: 'Upstream calls', appliesTo: ['gateway'], settings: upstreamCalls },
  { title: 'Documents and results', appliesTo: ['gateway'], settings: operations },
  { title: 'Memory', appliesTo: ['gateway', 'server'], settings: memory },
  { title: 'HTTP server', appliesTo: ['server'], settings: httpServer },
] as const satisfies readonly SettingGroup[];

/** Schema of every option of `createGateway` that is a setting. */
export const GATEWAY_SETTINGS = { ...general, ...clientSections, ...upstreamCalls, ...operations, ...memory };

const serverSettings = { ...memory, ...httpServer };

/** Schema of every setting, by name. */
export const SETTINGS = { ...GATEWAY_SETTINGS, ...command, ...serverSettings };

/** Names of the settings that are sections. */
export const SECTION_NAMES: readonly string[] = Object.keys(clientSections);

export type SettingName = keyof typeof SETTINGS;

/** Every setting with its default applied. */
export type Settings = Readonly<z.output<z.ZodObject<typeof SETTINGS>>>;

/** Settings of a gateway. */
export type GatewaySettings = Readonly<z.output<z.ZodObject<typeof GATEWAY_SETTINGS>>>;

/** Settings of the server that listens. */
export type ServerSettings = Readonly<z.output<z.ZodObject<typeof serverSettings>>>;
