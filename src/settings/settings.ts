// The settings of a gateway: each one once, with its type, range, default and description.
// The options of the command, environment variables, the configuration file, `--help`, docs/settings.md, the JSON Schema and the options of
// `createGateway` follow from them. A name ends with its unit: `Ms` (milliseconds), `Seconds`, `Bytes` or `Percent`.

import { z } from 'zod';
import { group, integer, matching, number, offByDefault, onOff, type SettingGroup, setting, text } from './define.ts';
import { ofKind, ownSecret, upstreamUrl } from './kinds.ts';
import { clientSections, mcpSettings } from './sections/clients.ts';
import { cacheSettings } from './sections/stores.ts';
import { hostNames, upstreamCalls, upstreamSections } from './sections/upstreams.ts';

const MIB = 1024 * 1024;

const general = {
  upstream: setting(upstreamUrl.exactOptional(), 'Base address of the service. May have a path prefix.', {
    flag: 'URL',
    defaultText: 'required, unless there are `upstreams`',
  }),
  endpoint: setting(
    matching(
      /^(?!.*\/\.{1,2}(?:\/|$))\/(?!(?:livez|readyz|metrics|client-tokens|mcp)$)[\w./~-]*$/,
      'must be a path such as /graphql, other than /livez, /readyz, /metrics, /client-tokens and /mcp, and without the segments "." and ".."',
    ).default('/graphql'),
    'Path of the GraphQL endpoint.',
    { flag: 'PATH' },
  ),
  graphiql: setting(
    z
      .union(
        [
          onOff(),
          group({
            authorization: setting(
              ofKind('graphiqlKey', text()).exactOptional(),
              'Value of the header `Authorization`, filled in for every visitor. Without it, the page asks for a credential.',
            ),
            sandbox: offByDefault('Whether the page says that the service is a sandbox.'),
          }),
        ],
        'must be on or off (true or false)',
      )
      .prefault(false),
    'Whether browsers get GraphiQL at the endpoint.',
    { flag: 'on|off', defaultText: '`on`, but `off` in production and in `createGateway`' },
  ),
  introspection: setting(onOff().prefault(true), 'Whether clients can query the schema.'),
  federation: setting(
    z
      .union(
        [
          onOff(),
          group({
            routerSecret: setting(
              ownSecret('routerSecret').exactOptional(),
              'Value of the header `Router-Authorization` with which the router reads the schema. At least 32 characters. A file is read at startup and with a reload.',
            ),
          }),
        ],
        'must be on or off (true or false), or an object of settings',
      )
      .prefault(false),
    'Whether the gateway is [a subgraph](federation.md) of a federated graph. `{ routerSecret }` turns it on, and lets its router read the schema although `introspection` is off.',
    { flag: 'on|off' },
  ),
  hosts: setting(
    hostNames().default([]),
    'Names of the gateway in the header `Host`, besides those of `upstreams` and of this machine. On an address of this machine, [others are rejected](network.md#hosts).',
    { defaultText: 'none' },
  ),
  logSecret: setting(
    ownSecret('logSecret').exactOptional(),
    'Secret of the 8 hex digits that stand for an API key in the log, which makes them the same across restarts and replicas. At least 16 characters. A file is read at startup and with a reload.',
    { defaultText: 'random' },
  ),
  logSample: setting(
    number(0, 1).default(1),
    'Share of the successful operations that are logged: 0 to 1. Those that fail or take a second are always logged. Metrics count all.',
  ),
  reloadSeconds: setting(
    number(0.01, 86_400).default(10),
    'Interval at which the configuration file and the files that it names are checked for changes.',
  ),
};

const operations = {
  maxDepth: setting(
    integer(1, 1_000).default(10),
    'Maximum depth of nested fields. A document beyond this or another limit of documents is `DOCUMENT_LIMIT_EXCEEDED`.',
  ),
  maxRootFields: setting(
    integer(1, 10_000).default(20),
    'Maximum root fields. Half as many more can have an alias, at any level.',
  ),
  maxFields: setting(integer(1, 1_000_000).default(500), 'Maximum fields, with fragments spread out.'),
  maxResponseBytes: setting(
    integer(1_024, 1_024 * MIB).default(4 * MIB),
    'Maximum size of a response. Beyond it, execution stops with the error `RESULT_LIMIT_EXCEEDED`.',
  ),
};

/** Limits that the gateway and its server share. */
export const memory = {
  maxBodyBytes: setting(
    integer(1_024, 64 * MIB).default(MIB / 4),
    'Maximum size of a request body. A larger one is 413.',
  ),
  maxBufferedBytes: setting(
    integer(MIB, 65_536 * MIB).default(64 * MIB),
    'Maximum bytes of requests and responses in memory, including those of the service. Beyond it, slow clients are disconnected, requests are 503, and responses of the service are `OVERLOADED`.',
  ),
};

/** Limits that the gateway and its server share. The server rejects requests beyond the total before it reads them. */
export const inFlight = {
  maxInFlightRequests: setting(
    integer(1, 100_000).default(512),
    'Maximum requests that have arrived completely and are being answered. [Each caller](reliability.md#requests-in-flight) can have a quarter. One more is 503, or for a caller 429, with `Retry-After`.',
  ),
};

/** Groups of settings, in the order of docs/settings.md. */
export const GATEWAY_GROUPS = [
  { title: 'General', needsRestart: false, settings: general },
  { title: 'Clients, tokens and documents', needsRestart: false, isSections: true, settings: clientSections },
  { title: 'Tools for AI agents', needsRestart: false, isSections: true, settings: mcpSettings },
  { title: 'Upstream calls', needsRestart: false, settings: upstreamCalls },
  { title: 'Upstream connections', needsRestart: false, isSections: true, settings: upstreamSections },
  { title: 'Cache', needsRestart: false, settings: cacheSettings },
  { title: 'Documents and results', needsRestart: false, settings: operations },
  { title: 'Memory', needsRestart: true, settings: memory },
  { title: 'Requests in flight', needsRestart: true, settings: inFlight },
] as const satisfies readonly SettingGroup[];

/** Schema of every option of `createGateway` that is a setting. */
export const GATEWAY_SETTINGS = {
  ...general,
  ...clientSections,
  ...mcpSettings,
  ...upstreamCalls,
  ...upstreamSections,
  ...cacheSettings,
  ...operations,
  ...memory,
  ...inFlight,
};

export const GATEWAY_TABLE = z.object(GATEWAY_SETTINGS);

/** Every setting of a gateway with its default applied. */
export type GatewaySettings = Readonly<z.output<typeof GATEWAY_TABLE>>;

export type ClientKindSettings = Exclude<GatewaySettings['clients']['server'], false>;

export type BrowserSettings = NonNullable<GatewaySettings['clients']['browser']>;

export type TokenIssuer = BrowserSettings['issuers'][number];

/** Issuer and audience of the tokens that the gateway issues: other gateways have other secrets. */
export const CLIENT_TOKEN_ISSUER = 'notigraph';

export type ClientTokenSettings = NonNullable<GatewaySettings['clientTokens']>;

/** Handling of documents that are in no manifest. */
export type TrustedDocumentsMode = ClientKindSettings['trustedDocuments'];

export type McpSettings = NonNullable<GatewaySettings['mcp']>;

export type TlsSettings = NonNullable<GatewaySettings['tls']>;

/** Limit on the upstream calls of one caller: `calls` per `perSeconds`, refilled steadily. */
export type RateLimit = NonNullable<ClientKindSettings['rateLimit']>;

/** Settings of the cache, if it is on. */
export type CacheSettings = Exclude<GatewaySettings['cache'], false>;

/** Returns the name of the upstream for requests and tenants that select none. */
export const defaultUpstream = (upstreams: GatewaySettings['upstreams'] = {}): string | undefined =>
  Object.entries(upstreams).find(([, upstream]) => upstream.default)?.[0];

/** Whether the audit log names an API key in another way after each restart. Names of tenants stay. */
export const hasChangingNames = ({
  audit,
  clients,
  logSecret,
}: Pick<GatewaySettings, 'audit' | 'clients' | 'logSecret'>): boolean =>
  audit !== undefined && clients.server !== false && logSecret === undefined;
