// Settings of clients: who may use the gateway, how often, and what is recorded.

import { z } from 'zod';
import { isKeysAddress, isOrigin, parseIpRange } from '../../lib/urls.ts';
import { choice, group, integer, list, offByDefault, offOr, onOff, setting, text, textThat } from '../define.ts';
import { file, ofKind, ownSecret, path, pem, proxyAddress, secret, textOrFile } from '../kinds.ts';
import { SCOPE_ACTIONS, SCOPE_PROBLEM, SCOPES } from '../scopes.ts';
import { rateLimit, rateLimits } from './stores.ts';

/** Signatures by key pairs. Shared secrets and `none` are not supported. */
const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** Exact origins, as browsers and apps send them. */
const origins = list(
  textThat(
    isOrigin,
    'must be an origin such as https://app.example.com, in lower case, without a path or a trailing slash',
  ),
  'must be a list of origins',
);

/** Manifest of documents: inline, or the path of a file or directory. */
const manifestSource = z.union(
  [path('manifest'), z.record(z.string(), z.string('must be a document'))],
  'must be a path, or an object of documents by id',
);

const clientKind = {
  corsOrigins: setting(origins.default([]), 'Allowed CORS origins for this kind of credential.'),
  trustedDocuments: setting(
    offOr('off' as const, choice(['off', 'log', 'enforce']), 'must be off, log or enforce').prefault('off'),
    'Handling of documents in no manifest: `off` serves them, `log` serves and logs them, `enforce` rejects them. See [trusted documents](frontend.md#4-trusted-documents).',
  ),
  rateLimit: setting(
    rateLimit().exactOptional(),
    'Rate limit of each API key, or of each subject of a tenant. Counts upstream calls.',
  ),
};

/** Scope of a module. Those of the schema are known only when its modules are. */
const scopeOfModule = z.templateLiteral([z.string().regex(/^[a-z]+(?:-[a-z]+)*$/), ':', z.enum(SCOPE_ACTIONS)]);

const AUDIENCE_PROBLEM = 'must be a string or a list of strings';

const issuer = group({
  issuer: setting(
    text(),
    'Exact value of the claim `iss`. No two issuers share one, and none is `notigraph`, which stands for `clientTokens`.',
    {
      examples: ['https://login.example.com'],
    },
  ),
  audience: setting(
    z.union([text(), z.array(text(), AUDIENCE_PROBLEM).nonempty(AUDIENCE_PROBLEM)], AUDIENCE_PROBLEM),
    'Accepted value of the claim `aud`, or a list of them.',
  ),
  jwks: setting(
    textThat(
      isKeysAddress,
      'must be an https URL (http only on this machine) without user name and password',
    ).exactOptional(),
    'URL of the signing keys (JWKS): https, or http on this machine. Set either this or `publicKey`.',
    { examples: ['https://login.example.com/.well-known/jwks.json'] },
  ),
  publicKey: setting(
    ofKind('publicKey', textOrFile('must be a PEM or JSON Web Key, { env: NAME } or { file: PATH }')).exactOptional(),
    'Public key in place of `jwks`: PEM or JSON Web Key, inline, `{ env }` or `{ file }`. RSA keys need 2048 bits.',
  ),
  ca: setting(
    pem('certificate').exactOptional(),
    'Certificates of private authorities that sign the certificate of `jwks`, in PEM: inline, `{ env }` or `{ file }`.',
  ),
  proxy: setting(
    proxyAddress.exactOptional(),
    'Proxy to the address of `jwks`, as in the general `proxy`. Addresses on this machine are reached directly.',
    { defaultText: '`proxy`; by default as in the environment, unless `NO_PROXY` excludes the address' },
  ),
  algorithms: setting(
    list(choice(SIGNATURE_ALGORITHMS)).nonempty('must name at least one algorithm').default(['RS256', 'ES256']),
    'Accepted signature algorithms.',
  ),
  tenantClaim: setting(
    text().exactOptional(),
    'Claim that names the tenant: its exact name, or else a path into objects, such as `app_metadata.tenant`.',
    { defaultText: '`tenant`' },
  ),
  tenant: setting(text().exactOptional(), 'Tenant of all tokens of the issuer, in place of `tenantClaim`.'),
  tenants: setting(
    list(text(), 'must be a list of tenants').nonempty('must name at least one tenant').exactOptional(),
    'Tenants that the claim may name.',
    { defaultText: 'all' },
  ),
  subjectClaim: setting(
    text().default('sub'),
    'Claim that names the user, to whom [the rate limit](frontend.md#5-cors-and-rate-limit) applies and [the inbox](frontend.md#whose-records) belongs: its exact name, or else a path. Users must not be able to change it.',
  ),
  scopeClaim: setting(
    text().default('scope'),
    'Claim that lists scopes: a string with spaces between them, or a list. Its exact name, or else a path, such as `realm_access.roles`.',
  ),
})
  .refine(({ jwks, publicKey }) => (jwks === undefined) !== (publicKey === undefined), 'needs either jwks or publicKey')
  .refine(
    ({ publicKey, ca, proxy }) => publicKey === undefined || (ca === undefined && proxy === undefined),
    'has a publicKey, so ca and proxy have no effect; remove them',
  )
  .refine(
    ({ tenant, tenantClaim, tenants }) => tenant === undefined || (tenantClaim === undefined && tenants === undefined),
    'has a fixed tenant, so tenantClaim and tenants have no effect; remove them',
  );

const serverGroup = group(clientKind);

/** Whether servers are served: a switch, or their settings. The output is `false` if they are not. */
const server = z
  .union([onOff(), z.null(), serverGroup], 'must be on, off or an object of settings')
  .transform((value) => (value === true || value === null ? serverGroup.parse({}) : value));

/** API key of a tenant whose upstream is not the default one. */
const tenant = group({
  key: setting(secret('tenantKey'), "The service's API key of the tenant."),
  upstream: setting(text(), 'Name of the upstream that the tenant uses.'),
});

const browser = group({
  issuers: setting(list(issuer).prefault([]), 'Issuers of accepted tokens. May be empty if `clientTokens` is set.'),
  scopes: setting(
    list(z.union([z.enum(SCOPES), scopeOfModule], SCOPE_PROBLEM)).default([]),
    'Scopes that tokens can grant at most. See [scopes](frontend.md#3-what-a-token-permits).',
  ),
  tenants: setting(
    z
      .record(
        z.string(),
        z.union(
          [secret('tenantKey'), tenant],
          'must be a secret, { env: NAME } or { file: PATH }, or { key, upstream } with one',
        ),
        'must be an object of secrets by tenant',
      )
      .exactOptional(),
    "The service's API key of each tenant, without `ApiKey`, or `{ key, upstream }`. Names have up to 128 letters, digits, dots, dashes and underscores.",
    { examples: [{ acme: { env: 'ACME_KEY' } }] },
  ),
  tenantKeys: setting(
    group({
      directory: setting(path('tenantFolder'), 'Path of the directory.', { examples: ['/run/secrets/tenants'] }),
      upstreams: setting(
        z.record(z.string(), text(), 'must be an object of names of upstreams by tenant').exactOptional(),
        'Name of the upstream of each tenant in the directory. Other tenants use the default one.',
      ),
    }).exactOptional(),
    'Directory with one file per tenant, named after it, that contains its API key.',
  ),
  ...clientKind,
  explain: offByDefault(
    'Whether requests can use [`extensions.explain`](explain.md) and [`extensions.upstream`](call-from-a-server.md#cost-of-an-operation), as those of servers can.',
  ),
});

/** Kinds of client that are served, and the tokens and documents that they use. */
export const clientSections = {
  trustedProxies: setting(
    group({
      addresses: setting(
        list(
          textThat((range) => parseIpRange(range) !== undefined, 'must be an IP address or a range such as 10.0.0.0/8'),
        ).default([]),
        'Addresses of the proxies in front of the gateway, such as `10.0.0.0/8`. Of others, the header is ignored.',
      ),
      header: setting(
        choice(['X-Forwarded-For', 'Forwarded']).default('X-Forwarded-For'),
        'Header in which they tell the address of their client. They must replace or extend what a client sends.',
      ),
    }).exactOptional(),
    'Logs the `address` of clients, also in the audit log: that of the connection, or the one that a trusted proxy reports. The service does not get it.',
    { defaultText: 'addresses are not logged' },
  ),
  clients: setting(
    group({
      server: setting(
        server.default(serverGroup.parse({})),
        "Servers, which send the service's API key. `off` rejects API keys.",
        { defaultText: 'on' },
      ),
      browser: setting(
        offOr(undefined, browser, 'must be off, or an object of settings').exactOptional(),
        'Browsers, which send a token: `Authorization: Bearer <token>`.',
        { defaultText: 'off' },
      ),
    })
      .transform(({ browser, ...others }) => ({ ...others, ...(browser && { browser }) }))
      .prefault({}),
    'Kinds of client that are served.',
  ),
  clientTokens: setting(
    group({
      secrets: setting(
        list(ownSecret('clientTokenSecret')).nonempty('must contain at least one secret'),
        'Secrets of at least 32 characters, the same on all replicas. The first one signs (HS256); all of them verify.',
        { examples: [[{ env: 'CLIENT_TOKEN_SECRET' }]] },
      ),
      maxLifetimeSeconds: setting(integer(1, 3_600).default(3_600), 'Maximum lifetime of a token.'),
      rateLimit: setting(
        rateLimit().default({ calls: 600, perSeconds: 60 }), // Ten page loads per second. It stops servers that ask in a loop.
        'Rate limit of tokens per tenant: each page load takes one. Keys that belong to no tenant share one limit.',
      ),
    }).exactOptional(),
    'Tokens that the gateway issues to servers for their frontends.',
  ),
  trustedDocuments: setting(
    group({
      manifests: setting(
        list(manifestSource, 'must be a list of paths').default([]),
        'Manifests: files, and directories whose `.json` files are read. Each maps ids to documents, or has the format of Apollo.',
        { examples: [['manifests']] },
      ),
    }).prefault({}),
    'Documents that apps were built with.',
  ),
  audit: setting(
    group({
      to: setting(
        z.union([z.literal('stdout'), ofKind('auditLog', file())], 'must be stdout, or { file: PATH }'),
        'Where lines are written: `stdout`, or `{ file: PATH }`.',
      ),
      required: offByDefault(
        'Whether a write is sent only after a line about it was written. Otherwise it is `AUDIT_UNAVAILABLE`.',
      ),
    }).exactOptional(),
    '[Audit log](audit.md): a line per write that is sent to the service.',
  ),
  rateLimits,
};

/** Section of the settings table: trusted documents that are tools for AI agents. */
export const mcpSettings = {
  mcp: setting(
    ofKind(
      'mcp',
      group({
        manifest: setting(
          manifestSource.exactOptional(),
          'Manifest whose operations are tools: a file, a directory, or an object of documents by id, as in `trustedDocuments`.',
          { defaultText: 'the shipped operations', examples: ['tools.json'] },
        ),
        mutations: setting(
          list(text(), 'must be a list of names of operations').default([]),
          'Names of the mutations that are tools. Others in the manifest are not.',
          { examples: [['CreateFeed']] },
        ),
        maxResultBytes: setting(
          integer(1_024, 2 ** 30).default(32 * 1_024),
          'Maximum size of the result of a call, in bytes: 32 KiB are about 10,000 tokens of a language model. Instead of a larger one, the agent is told to request less.',
        ),
      }),
    ).exactOptional(),
    '[Tools for AI agents](mcp.md), which are served at `/mcp`. They need the package `@modelcontextprotocol/server`.',
  ),
};
