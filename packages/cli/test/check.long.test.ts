import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { TOOLS } from '../../../test/support/agent.ts';
import { createAuthority, hasOpenssl, opensslOnly } from '../../../test/support/certificates.ts';
import { runCommand } from '../../../test/support/command.ts';
import { environmentOfImage } from '../../../test/support/deploy.ts';
import { ROOT } from '../../../test/support/docs.ts';
import { guards } from '../../../test/support/guards.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { startService } from '../../../test/support/service.ts';
import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { createReport, formatReport } from '../src/check/report.ts';
import { readCommandLine } from '../src/command-line.ts';
import { COMMANDS } from '../src/commands/index.ts';

guards('packages/cli/src/config/load-config.ts', 'findAllConflicts');
guards('packages/cli/src/config/load-config.ts', 'isSameAddress');
guards('src/documents/manifest.ts', 'findManifestProblems');
guards('src/file-checks.ts', 'findFileProblems');
guards('src/file-checks.ts', 'isMissing');
guards('src/telemetry/audit-log.ts', 'assertAppendable');

/** Checks a configuration in this process. */
const check = (content: object, env: Record<string, string> = {}, ...argv: string[]) =>
  createReport(readCommandLine(['check', ...argv], COMMANDS), {
    env: { NOTIGRAPH_CONFIG_TEXT: stringify(content), ...env },
    platform: 'linux',
  });

const problemsOf = async (...args: Parameters<typeof check>) =>
  (await check(...args)).problems.map(({ sentence }) => sentence);

const warningsOf = async (...args: Parameters<typeof check>) => {
  const { problems, warnings } = await check(...args);
  expect(problems).toEqual([]);
  return warnings.map(({ sentence }) => sentence);
};

const UPSTREAM = 'https://notifications.example.com';

it('accepts a configuration without sending, writing or starting anything, and fails for its warnings only if told to', async () => {
  const folder = await createTestFolder();
  await using service = await startService(() => {});
  const config = {
    upstream: service.url,
    port: Number(new URL(service.url).port), // In use, which a check doesn't notice because it starts no server.
    clients: {
      browser: {
        issuers: [{ issuer: 'login', audience: 'app', jwks: `${service.url}/jwks.json` }],
        tenants: { acme: { env: 'ACME_KEY' } },
        tenantKeys: { directory: 'tenants' },
        trustedDocuments: 'enforce',
      },
    },
    trustedDocuments: { manifests: ['manifest.json'] },
    rateLimits: { store: { redis: { url: service.url.replace('http', 'redis') } } },
  };
  await mkdir(folder.path('tenants'));
  await writeFile(folder.path('tenants', 'birch'), 'key-of-birch', { mode: 0o600 });
  await writeFile(
    folder.path('manifest.json'),
    '{ "a": "query Groups { notificationGroups { id } }", "b": "{ colour }" }',
  );
  await writeFile(folder.path('notigraph.config.yaml'), stringify(config));
  const before = await readdir(folder.path(), { recursive: true });
  const env = { ACME_KEY: 'key-of-acme' };
  expect(await runCommand({ cwd: folder.path(), args: ['check', '--strict'], env })).toEqual({
    code: 1,
    signal: null,
    stdout: `notigraph.config.yaml is valid, with 1 warning.
notigraph.config.yaml:17:7: warning: trustedDocuments.manifests.0: the document b is rejected: Cannot query field "colour" on type "Query".
`,
    stderr: '',
  });
  await writeFile(folder.path('manifest.json'), '{ "a": "query Groups { notificationGroups { id } }" }');
  expect(await runCommand({ cwd: folder.path(), args: ['check', '--strict'], env })).toMatchObject({
    code: 0,
    stdout: 'notigraph.config.yaml is valid.\n',
  });
  expect(service.connections()).toBe(0);
  expect(await readdir(folder.path(), { recursive: true })).toEqual(before);
});

it('reports the problems that prevent a start, for people and as annotations of GitHub Actions', async () => {
  const folder = await createTestFolder();
  await writeFile(folder.path('notigraph.config.yaml'), '{\n  "port": 70000,\n  "clients": { "browser": {} }\n}');
  await writeFile(folder.path('.env'), 'NOTIGRAPH_HOST="canary/"\n');
  const run = (...args: string[]) => runCommand({ cwd: folder.path(), args });
  const [start, report, annotations] = [await run(), await run('check'), await run('check', '--format=github')];
  expect([start.code, report.code, annotations.code]).toEqual([2, 2, 2]);
  expect(report.stdout).toBe(`The configuration is invalid: 2 problems.\n${start.stderr}`);
  expect(annotations.stdout.split('\n')).toEqual([
    'The configuration is invalid: 2 problems.',
    '::error::NOTIGRAPH_HOST (.env) must be a host name or an IP address.',
    '::error file=notigraph.config.yaml,line=2,col=3::port must be a whole number from 0 to 65535.',
    '',
  ]);
  expect(report.stderr + annotations.stderr).toBe('');
});

it('has a form for programs, and escapes what GitHub Actions would interpret', async () => {
  const report = await check({ port: 70_000 }, {}, '--colour');
  expect(JSON.parse(formatReport(report, 'json'))).toEqual({
    valid: false,
    summary: 'The configuration is invalid: 2 problems.',
    problems: [
      { message: 'Unknown option "--colour". See notigraph check --help.' },
      {
        file: 'NOTIGRAPH_CONFIG_TEXT',
        line: 1,
        column: 1,
        message: 'port must be a whole number from 0 to 65535.',
      },
    ],
    warnings: [],
  });
  const problem = { place: { source: 'a,b:c%.yaml', line: 1, column: 2 }, sentence: '100 %\nmore' };
  expect(formatReport({ ...report, problems: [problem] }, 'github').split('\n')[1]).toBe(
    '::error file=a%2Cb%3Ac%25.yaml,line=1,col=2::100 %25%0Amore',
  );
});

it('finds a file that the sandbox could not use, and leaves it unchanged', async () => {
  const { path } = await createTestFolder();
  const sentencesOf = (file: string) => problemsOf({ sandbox: path(file) });
  await writeFile(path('text'), 'no database');
  await (await startSandbox({ file: path('own.db') })).close();
  const before = await readdir(path());
  expect(await sentencesOf('text')).toEqual([`sandbox: ${path('text')} is not a SQLite database.`]);
  expect(await sentencesOf('own.db')).toEqual([]);
  expect(await sentencesOf('new.db')).toEqual([]);
  expect(await readdir(path())).toEqual(before);
});

it.each<[string, object, string[]]>([
  ['an upstream without TLS', { upstream: 'http://192.0.2.1' }, ['upstream uses http, so API keys are sent']],
  ['an upstream on this machine', { upstream: 'http://127.0.0.1:1' }, []],
  [
    'an inbox without a rate limit',
    {
      upstream: UPSTREAM,
      modules: ['notigraph/modules/inbox'],
      clients: {
        browser: {
          issuers: [{ issuer: 'login', audience: 'app', jwks: `${UPSTREAM}/jwks.json` }],
          tenants: { acme: { env: 'ROUTER_SECRET' } },
          scopes: ['inbox:read'],
        },
      },
    },
    ["clients.browser.rateLimit is not set, so one person's inbox can use up"],
  ],
  [
    'clients of which there are none',
    { upstream: UPSTREAM, clients: { server: false } },
    ['clients.server is off without clients.browser, so all requests are rejected'],
  ],
  [
    'an upstream that nothing selects',
    {
      upstreams: Object.fromEntries(
        Object.entries({
          one: {},
          two: { default: true },
          three: { hosts: ['three.example.com'] },
          four: { pathPrefix: '/four' },
          five: {},
        }).map(([name, selection]) => [name, { url: UPSTREAM, ...selection }]),
      ),
      clients: {
        browser: {
          issuers: [{ issuer: 'login', audience: 'app', jwks: `${UPSTREAM}/jwks.json` }],
          tenants: { acme: { key: { env: 'ROUTER_SECRET' }, upstream: 'five' } },
        },
      },
    },
    ['upstreams.one is selected by no request and no tenant; set its default, hosts or pathPrefix.'],
  ],
  [
    'limits that every worker counts by itself',
    { upstream: UPSTREAM, workers: 2, clients: { server: { rateLimit: { calls: 1 } } } },
    ['rateLimits.store is memory'],
  ],
  [
    'time limits that contradict each other',
    {
      upstream: UPSTREAM,
      operationTimeoutMs: 1_000,
      drainTimeoutMs: 900,
    },
    ['attemptTimeoutMs is longer than operationTimeoutMs', 'drainTimeoutMs is shorter than operationTimeoutMs'],
  ],
  [
    'connections to Redis that anybody can read',
    {
      upstream: UPSTREAM,
      cache: { secret: { env: 'ROUTER_SECRET' }, store: { redis: { url: { env: 'REDIS_URL' } } } },
      rateLimits: { store: { redis: { url: 'redis://127.0.0.1' } } },
    },
    ['cache.store.redis.url has no TLS'],
  ],
  [
    'a secret that protects nothing',
    { upstream: UPSTREAM, federation: { routerSecret: { env: 'ROUTER_SECRET' } } },
    ['federation.routerSecret has no effect, because introspection is on'],
  ],
  [
    'a secret that protects the schema',
    { upstream: UPSTREAM, introspection: false, federation: { routerSecret: { env: 'ROUTER_SECRET' } } },
    [],
  ],
  [
    'keys as version 1.0 derives them',
    { upstream: UPSTREAM, idempotencyKeys: 'previous' },
    ['idempotencyKeys is previous'],
  ],
  [
    'trusted documents of which there are none',
    {
      upstream: UPSTREAM,
      clients: { server: { trustedDocuments: 'enforce' } },
      trustedDocuments: { manifests: [{}] },
    },
    ['trustedDocuments.manifests contain no document, so all operations are rejected'],
  ],
  [
    'documents of a shipped module that is off, but not of one that is on',
    {
      upstream: UPSTREAM,
      modules: ['notigraph/modules/events'],
      trustedDocuments: {
        manifests: ['trusted-documents', 'module-documents/events', 'module-documents/topics'].map((name) =>
          join(ROOT, `schema/${name}.json`),
        ),
      },
    },
    [
      ...['AddSubscribersToTopic', 'CreateTopic', 'DeleteTopic', 'RemoveSubscribersFromTopic'],
      ...['RenameTopic', 'Topic', 'Topics'],
    ].map((name) => `trustedDocuments.manifests.2: the document ${name} `),
  ],
  [
    'documents beyond a limit, or that ask for the schema',
    {
      upstream: UPSTREAM,
      maxDepth: 1,
      introspection: false,
      trustedDocuments: {
        manifests: [{ deep: '{ notificationGroups { id } }', intro: '{ __schema { __typename } }' }],
      },
    },
    ['trustedDocuments.manifests.0: the document deep is rejected', 'trustedDocuments.manifests.0: the document intro'],
  ],
  [
    'documents with fields of modules, unless the modules are configured',
    {
      upstream: UPSTREAM,
      modules: ['notigraph/modules/workflows'],
      trustedDocuments: { manifests: [{ listed: '{ workflowPage { page } }', topics: '{ topics { page } }' }] },
    },
    ['trustedDocuments.manifests.0: the document topics is rejected'],
  ],
])('warns of %s', async (_, content, expected) => {
  const warnings = await warningsOf(content, { ROUTER_SECRET: 'x'.repeat(32), REDIS_URL: 'redis://redis:6379' });
  expect(warnings.toSorted()).toEqual(expected.map((start) => expect.stringContaining(start)));
});

it('finds ports that are the same, and an audit log that cannot be opened, without creating it', async () => {
  const folder = await createTestFolder();
  const sentence = 'adminPort must differ from port.';
  expect(await problemsOf({ upstream: UPSTREAM, adminPort: 4_000 })).toEqual([sentence]);
  expect(await problemsOf({ upstream: UPSTREAM, adminPort: 4_000, host: '::' })).toEqual([sentence]);
  const ports = { port: 5_000, adminPort: 5_000, adminHost: '0.0.0.0' };
  const file = folder.path('none', 'audit.jsonl');
  expect(await problemsOf({ upstream: UPSTREAM, ...ports, audit: { to: { file } } })).toEqual([
    sentence,
    `audit.to: the audit log ${file} can't be opened (ENOENT).`,
  ]);
  const valid = { audit: { to: { file: folder.path('audit.jsonl') } }, adminPort: 4_000, adminHost: '127.0.0.2' };
  expect(await problemsOf({ upstream: UPSTREAM, ...valid })).toEqual([]);
  expect(await problemsOf({ upstream: UPSTREAM, port: 0, adminPort: 0 })).toEqual([]);
  expect(await readdir(folder.path())).toEqual([]);
});

it('accepts tools, and finds operations that cannot be tools', async () => {
  const problemsIn = (mcp: object) => problemsOf({ upstream: UPSTREAM, mcp });
  expect(await problemsIn({ manifest: TOOLS, mutations: ['AddFeed'] })).toEqual([]);
  expect(await problemsIn({ manifest: { a: 'query A { feeds }', b: '{ __typename }' } })).toEqual([
    'mcp.manifest: the document a is rejected: Cannot query field "feeds" on type "Query".',
    'mcp.manifest: the operation in the document b needs a name, which becomes the name of the tool.',
  ]);
  expect(await problemsIn({ manifest: { a: 'query A { __typename }' }, mutations: ['B'] })).toEqual([
    'mcp.mutations.0 names "B", which is not in the manifest.',
  ]);
  expect(await problemsIn({ manifest: 'none.json' })).toEqual([
    expect.stringContaining('mcp.manifest: the manifest none.json'),
  ]);
});

it('finds caches that several processes cannot share', async () => {
  const workersOf = (cache: unknown, workers: unknown, env: Record<string, string> = {}) =>
    problemsOf({ upstream: UPSTREAM, workers, ...(cache !== undefined && { cache }) }, env);
  const single = (name: string, count: number) =>
    `${name} uses the store memory, which requires a single worker; use cache.store.redis, or set workers to 1 instead of ${count}.`;
  expect(await workersOf(true, 2)).toEqual([single('cache', 2)]);
  expect(await workersOf(undefined, 3, { NOTIGRAPH_CACHE: 'on' })).toEqual([
    single('NOTIGRAPH_CACHE (environment)', 3),
  ]);
  const cpus = availableParallelism();
  expect(await workersOf(true, 'auto')).toEqual(cpus > 1 ? [single('cache', cpus)] : []);
  expect(await workersOf(true, 1)).toEqual([]);
  expect(await workersOf(false, 2)).toEqual([]);
});

const REDIS = { store: { redis: { url: 'redis://127.0.0.1' } } };

it.each([
  ['cache.secret', 'cache', 32, (secret?: object) => ({ workers: 2, cache: { ...REDIS, secret } })],
  [
    'federation.routerSecret',
    'router',
    32,
    (routerSecret: object) => ({ introspection: false, federation: { routerSecret } }),
  ],
  ['logSecret', 'log', 16, (logSecret: object) => ({ logSecret })],
] as const)('finds a secret that is missing or too short: %s', async (name, title, minimum, configOf) => {
  const folder = await createTestFolder();
  const file = folder.path('secret');
  const short = 'x'.repeat(minimum - 1);
  const sentencesOf = (secret: object) => problemsOf({ upstream: UPSTREAM, ...configOf(secret) }, { SHORT: short });
  expect(await sentencesOf({ env: 'SHORT' })).toEqual([`${name} must have at least ${minimum} characters.`]);
  expect(await sentencesOf({ file })).toEqual([`${name}: the file ${file} doesn't exist.`]);
  await writeFile(file, `${short}\n`);
  expect(await sentencesOf({ file })).toEqual([
    `${name}: the secret of the ${title} is shorter than ${minimum} characters.`,
  ]);
  await writeFile(file, 'x'.repeat(minimum));
  expect(await sentencesOf({ file })).toEqual([]);
});

it('finds keys of tenants that cannot be used, alone and together with those of their folder', async () => {
  const folder = await createTestFolder();
  await mkdir(folder.path('tenants'));
  const issuers = [{ issuer: 'https://login.example.com', audience: 'a', jwks: 'https://login.example.com/keys' }];
  const directory = folder.path('tenants');
  const sentencesOf = (tenants: object, tenantKeys = { directory }) =>
    problemsOf({
      upstream: UPSTREAM,
      clients: { browser: { issuers, scopes: ['groups:read'], tenants, tenantKeys } },
    });
  const [acme, birch] = [folder.path('acme'), folder.path('tenants', 'birch')];
  await writeFile(acme, 'a key');
  await writeFile(birch, 'key-1');
  expect(await sentencesOf({ acme: { file: acme } })).toEqual([
    'clients.browser.tenants.acme: the key of tenant acme is empty, too long, or contains a space or another invalid character.',
  ]);
  await writeFile(acme, 'key-1');
  expect(await sentencesOf({ acme: { file: acme } })).toEqual([
    'clients.browser.tenantKeys: the tenants acme and birch have the same key.',
  ]);
  expect(await sentencesOf({ birch: { file: acme } })).toEqual([
    `clients.browser.tenantKeys: birch is set both directly and by a file in the folder ${directory}; remove one of them.`,
  ]);
  expect(await sentencesOf({ '-': { file: acme } }, { directory: folder.path('none') })).toEqual([
    expect.stringContaining('clients.browser.tenants.-: "-" is not a valid tenant name'),
    `clients.browser.tenantKeys: the folder ${folder.path('none')} doesn't exist.`,
  ]);
  await writeFile(acme, 'key-2');
  expect(await sentencesOf({ acme: { file: acme } })).toEqual([]);
});

it('finds manifests that cannot be used, alone and together', async () => {
  const folder = await createTestFolder();
  await mkdir(folder.path('more'));
  const [a, b, c] = [folder.path('a.json'), folder.path('more', 'b.json'), folder.path('more', 'c.json')];
  const sentencesOf = (...manifests: string[]) => problemsOf({ upstream: UPSTREAM, trustedDocuments: { manifests } });
  const together = ['the id x stands for two documents'];
  await writeFile(a, '{ "x": "{ __typename }" }');
  await writeFile(b, '[');
  await writeFile(c, '{ "x": 1 }');
  expect(await sentencesOf(a, folder.path('more'), folder.path('none'))).toEqual([
    expect.stringContaining(`trustedDocuments.manifests.1: the manifest ${b} cannot be used: it is not JSON`),
    expect.stringContaining(`trustedDocuments.manifests.1: the manifest ${c} cannot be used: it is neither`),
    `trustedDocuments.manifests.2: the manifest ${folder.path('none')} doesn't exist.`,
  ]);
  await writeFile(b, '{ "x": "{ a: __typename }" }');
  await writeFile(c, '{}');
  expect(await sentencesOf(a, b)).toEqual(together.map((each) => `trustedDocuments.manifests: ${each}.`));
  await writeFile(c, '{ "x": "{ __typename }" }');
  expect(await sentencesOf(folder.path('more'))).toEqual(
    together.map((each) => `trustedDocuments.manifests.0: ${each}.`),
  );
  expect(await sentencesOf(a, c)).toEqual([]);
});

it('checks a client certificate although its key is missing', async () => {
  const folder = await createTestFolder();
  await writeFile(folder.path('tls.crt'), 'no certificate');
  const tls = { clientCertificate: { file: folder.path('tls.crt') }, clientKey: { env: 'TLS_KEY' } };
  expect(await problemsOf({ upstream: UPSTREAM, tls }, {}, '--without-secrets')).toEqual([
    expect.stringMatching(/^tls\.clientCertificate: /),
  ]);
});

it('finds addresses of Redis that cannot be used, and a cache in Redis without a secret', async () => {
  const folder = await createTestFolder();
  const urlFile = folder.path('redis-url');
  const withUrl = (url: unknown, more: object = {}) =>
    problemsOf({ upstream: UPSTREAM, rateLimits: { store: { redis: { url, ...more } } } });
  const place = 'rateLimits.store.redis';
  expect(await withUrl({ file: urlFile })).toEqual([`${place}.url: the file ${urlFile} doesn't exist.`]);
  await writeFile(urlFile, 'canary');
  expect(await withUrl({ file: urlFile })).toEqual([
    expect.stringMatching(/^rateLimits\.store\.redis\.url: the URL of Redis must be a URL redis:/),
  ]);
  await writeFile(urlFile, 'redis://:password@host');
  expect(await withUrl({ file: urlFile })).toEqual([]);
  expect(await withUrl('redis://host', { ca: 'canary' })).toEqual([
    `${place}.ca: the URL of Redis must be a URL rediss://…, because ca is set.`,
  ]);
  expect(await problemsOf({ upstream: UPSTREAM, workers: 2, cache: REDIS })).toEqual([
    'cache.secret is required with Redis; set a secret of at least 32 characters, the same for all replicas.',
  ]);
});

it('warns of what production should not show', async () => {
  const production = { NODE_ENV: 'production' };
  expect(await warningsOf({ upstream: UPSTREAM, graphiql: true }, production)).toEqual([
    'introspection is on in production, so clients can read the schema; turn it off.',
    'adminPort is not set, so metrics are served on the public port in production.',
    'graphiql is on in production; turn it off.',
  ]);
  expect(await warningsOf({ sandbox: ':memory:', introspection: false, adminPort: 9_090 }, production)).toEqual([
    'sandbox serves sample records with public API keys in production; set upstream.',
  ]);
  expect(await warningsOf({ upstream: UPSTREAM, introspection: false, adminPort: 9_090 }, production)).toEqual([]);
  expect(await warningsOf({ upstream: UPSTREAM, graphiql: true })).toEqual([]);
});

it.runIf(hasOpenssl)(`warns of secrets that every user can read${opensslOnly}`, async () => {
  const folder = await createTestFolder();
  using authority = createAuthority();
  const { cert, key } = authority.issue('client');
  const config = {
    upstream: UPSTREAM,
    tls: { clientCertificate: cert, clientKey: { file: folder.path('client-key') } },
    clients: {
      browser: { tenants: { acme: { file: folder.path('acme') } }, tenantKeys: { directory: folder.path('tenants') } },
    },
    cache: {
      secret: { file: folder.path('cache-secret') },
      store: { redis: { url: { file: folder.path('redis-url') } } },
    },
    rateLimits: { store: { redis: { url: { file: folder.path('redis-url') } } } },
    clientTokens: { secrets: [{ file: folder.path('secret') }] },
    introspection: false,
    federation: { routerSecret: { file: folder.path('router-secret') } },
    logSecret: { file: folder.path('log-secret') },
  };
  await mkdir(folder.path('tenants'));
  const names = ['cache-secret', 'acme', 'tenants/birch', 'secret', 'log-secret', 'router-secret'];
  const contents = { 'redis-url': 'redis://host', 'client-key': key };
  const files = [...names.map((name) => [name, `${name}${'x'.repeat(32)}`] as const), ...Object.entries(contents)];
  for (const [name, content] of files) {
    await writeFile(folder.path(name), content);
    await chmod(folder.path(name), 0o640);
  }
  expect(await warningsOf(config)).toEqual([]);
  for (const [name] of files) {
    await chmod(folder.path(name), 0o644);
  }
  const settings = [
    'tls.clientKey',
    'clients.browser.tenants.acme',
    'clients.browser.tenantKeys',
    'cache.secret',
    'cache.store.redis.url',
    'rateLimits.store.redis.url',
    'clientTokens.secrets.0',
    'federation.routerSecret',
    'logSecret',
  ];
  const warning = (setting: string) => expect.stringContaining(`${setting}: every user can read`);
  expect(await warningsOf(config)).toEqual(settings.map(warning));
});

it('accepts missing secrets with --without-secrets, and checks everything else', async () => {
  const folder = await createTestFolder();
  const issuer = { issuer: 'https://login.example.com', audience: 'a' };
  const content = {
    upstream: UPSTREAM,
    tls: { clientCertificate: { file: folder.path('tls.crt') }, clientKey: { env: 'TLS_KEY' } },
    logSecret: { env: 'LOG_SECRET' },
    proxy: { env: 'PROXY_URL' },
    graphiql: { authorization: { env: 'GRAPHIQL_KEY' } },
    audit: { to: { file: folder.path('log', 'audit.jsonl') } },
    cache: { store: { redis: { url: { env: 'REDIS_URL' } } }, secret: { file: folder.path('cache-secret') } },
    clients: {
      browser: {
        issuers: [{ ...issuer, publicKey: { env: 'PUBLIC_KEY' } }],
        scopes: ['groups:read'],
        tenants: { acme: { env: 'ACME_KEY' } },
        tenantKeys: { directory: folder.path('tenants') },
      },
    },
  };
  expect(await problemsOf(content)).toHaveLength(11);
  expect(await problemsOf(content, {}, '--without-secrets')).toEqual([]);
  await writeFile(folder.path('cache-secret'), 'short');
  expect(await problemsOf({ ...content, maxRetries: 'many' }, {}, '--without-secrets')).toEqual([
    'cache.secret: the secret of the cache is shorter than 32 characters.',
    expect.stringMatching(/^maxRetries must be/),
  ]);
  const tls = { ...content.tls, ca: { file: folder.path('cache-secret') } };
  const logSecret = { env: 'an-obvious-test-secret' };
  expect(await problemsOf({ upstream: UPSTREAM, tls, logSecret }, {}, '--without-secrets')).toEqual([
    expect.stringMatching(/^tls\.ca: /),
    'logSecret requires an environment variable that is not set; env must be its name.',
  ]);
});

it.each([
  ['production', environmentOfImage()],
  ['compose', {}],
])('the shipped configuration in %s has no warning, without its secrets', async (path, env) => {
  const text = await readFile(new URL(`../../../deploy/${path}/notigraph.config.yaml`, import.meta.url), 'utf8');
  expect(await warningsOf(parse(text), env, '--without-secrets')).toEqual([]);
});

it('warns of a folder of tenants that is empty', async () => {
  const folder = await createTestFolder();
  const issuers = [{ issuer: 'https://login.example.com', audience: 'a', jwks: 'https://login.example.com/keys' }];
  const browser = { issuers, scopes: ['groups:read'], tenantKeys: { directory: folder.path() } };
  expect(await warningsOf({ upstream: UPSTREAM, clients: { browser } })).toEqual([
    `clients.browser.tenantKeys: the folder ${folder.path()} contains no key, so all tokens are rejected.`,
  ]);
});

it('shows no control characters that names contain, and takes names literally', async () => {
  const folder = await createTestFolder();
  await writeFile(folder.path('notigraph.config.yaml'), 'upstream: http://127.0.0.1:9\n"b\\u001b[31m\\u202eb": 1\n');
  await writeFile(folder.path('.env'), 'NOTIGRAPH_(=1\n');
  const { code, stdout, stderr } = await runCommand({
    cwd: folder.path(),
    args: ['check', '--c\u001b[31mc=1', '--modules', './d\u001b[31m\nd.ts'],
    env: { 'NOTIGRAPH_A\u001b[31mA': '1' },
  });
  expect([code, stderr]).toEqual([2, '']);
  for (const name of ['NOTIGRAPH_A?[31mA', 'NOTIGRAPH_(', 'b?[31m?b', '--c?[31mc']) {
    expect(stdout).toContain(name);
  }
  expect(stdout).toMatch(/^[^\p{C}\n]+(?:\n[^\p{C}\n]+)*\n$/u);
});
