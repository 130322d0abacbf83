import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import manifest from '../../schema/trusted-documents.json' with { type: 'json' };
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { MCP } from '../support/agent.ts';
import { type Entry, type GatewayWithService, startGateway, type TestRequest } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { type BrowserOptions, clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/http/pipeline/sessions.ts', 'createIdentifySession');
guards('src/auth/tokens/token-verifier.ts', 'toPerson.callerId');
guards('src/auth/tokens/token-verifier.ts', 'toPerson.scopes');
guards('src/auth/authenticate.ts', 'identityOf');
guards('src/http/head.ts', 'requirePreflight');
guards('src/settings/parse.ts', 'findConflicts');

type Authenticate = NonNullable<GatewayOptions['authenticate']>;

const GROUPS = '{ notificationGroups { id } }';
const SCOPES = ['groups:read', 'groups:write', 'inbox:read'] as const;

/** Sessions of the host by the value of its cookie. What a careless host returns is there too. */
const SESSIONS: Record<string, unknown> = {
  ada: { tenant: 'acme', subject: 'ada', scopes: ['groups:read', 'groups:write', 'inbox:read'] },
  bob: { tenant: 'globex', subject: 'bob', scopes: ['groups:read'] },
  guest: { tenant: 'acme', subject: 'guest', scopes: [] },
  greedy: { tenant: 'acme', subject: 'greedy', scopes: ['stats:read', 'groups:read', 'no:such', 'all', '*'] },
  forged: {
    ...{ tenant: 'acme', subject: 'forged', scopes: ['inbox:read'] },
    ...{ clientKind: 'server', credential: 'ApiKey other', callerId: 'ada', upstreamName: 'other', issuer: 'x' },
  },
  signedOut: null,
};

const cookieOf: Authenticate = ({ headers }) => {
  const cookie = headers instanceof Headers ? headers.get('cookie') : headers.cookie;
  const session: unknown = SESSIONS[cookie?.replace('session=', '') ?? ''];
  return session as ReturnType<Authenticate>; // A host in JavaScript can return anything.
};

const start = async (
  browser: Partial<BrowserOptions> = {},
  more: Partial<GatewayOptions> = {},
  entry: Entry = 'listener',
) =>
  ofTest(
    await startGateway(
      {
        service: 'healthy',
        authenticate: cookieOf,
        clients: { browser: { scopes: SCOPES, tenants: TENANT_KEYS, ...browser } },
        modules: [inbox],
        ...more,
      },
      { entry },
    ),
  );

/** Sends an operation with the cookie of a session. */
const as = (gateway: GatewayWithService, session: string, query = GROUPS, more: TestRequest = {}) =>
  gateway.send(query, {}, { authorization: null, ...more, headers: { cookie: `session=${session}`, ...more.headers } });

const keysOf = (gateway: GatewayWithService) => gateway.upstream().map(({ headers }) => headers.authorization);

describe.each(['listener', 'fetch'] as const)('with %s', (entry) => {
  it('a session is a person of its tenant, within its scopes and those of clients.browser', async () => {
    const gateway = await start({}, {}, entry);
    expect((await as(gateway, 'ada')).status).toBe(200);
    expect((await as(gateway, 'bob')).status).toBe(200);
    expect(keysOf(gateway)).toEqual([`ApiKey ${TENANT_KEYS.acme}`, `ApiKey ${TENANT_KEYS.globex}`]);
    gateway.forget();
    for (const [session, query, message] of [
      ['guest', GROUPS, 'The token lacks the scope groups:read, which this operation requires.'],
      ['greedy', '{ notificationStats { date } }', expect.stringContaining("clients.browser.scopes doesn't permit it")],
      ['bob', 'mutation { createNotificationGroup(input: { name: "A" }) { __typename } }', expect.any(String)],
    ] as const) {
      const { status, body } = await as(gateway, session, query);
      expect([session, status, body.errors]).toEqual([
        session,
        403,
        [expect.objectContaining({ message, extensions: expect.objectContaining({ code: 'FORBIDDEN' }) })],
      ]);
    }
    expect(keysOf(gateway)).toEqual([]);
  });

  it('a request without a session is that of its header', async () => {
    const gateway = await start({}, {}, entry);
    for (const session of ['signedOut', 'unknown']) {
      const { status, body } = await as(gateway, session);
      expect([status, body.errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect(keysOf(gateway)).toEqual([]);
    expect((await as(gateway, 'signedOut', GROUPS, { authorization: 'ApiKey of-a-server' })).status).toBe(200);
    expect(keysOf(gateway)).toEqual(['ApiKey of-a-server']);
  });
});

it('a session is never more than its own, whatever the header or the host’s object says', async () => {
  const gateway = await start();
  const stats = '{ notificationStats { date } }';
  for (const authorization of ['ApiKey of-a-server', `ApiKey ${TENANT_KEYS.globex}`, 'Bearer a.b.c', 'Basic YTpi']) {
    expect((await as(gateway, 'ada', stats, { authorization })).codes).toEqual(['FORBIDDEN']);
    expect((await as(gateway, 'ada', GROUPS, { authorization })).status).toBe(200);
  }
  expect(new Set(keysOf(gateway))).toEqual(new Set([`ApiKey ${TENANT_KEYS.acme}`]));
  gateway.forget();
  expect((await as(gateway, 'forged')).codes).toEqual(['FORBIDDEN']);
  const own = await as(gateway, 'forged', '{ inbox(subscriberId: "forged") { unseen { count } } }');
  expect(own.status).toBe(200);
  expect(new Set(keysOf(gateway))).toEqual(new Set([`ApiKey ${TENANT_KEYS.acme}`]));
});

it('a person reaches only the own inbox', async () => {
  const gateway = await start();
  const read = (id: string) => as(gateway, 'ada', `{ inbox(subscriberId: "${id}") { unseen { count } } }`);
  for (const id of ['bob', 'Ada', 'ada ', '']) {
    expect((await read(id)).body.data?.inbox).toBeFalsy();
  }
  expect(gateway.upstream()).toEqual([]);
  expect((await read('ada')).codes).toEqual([]);
  expect(gateway.upstream('GET /v1/subscribers/ada/')).not.toEqual([]);
});

describe('cross-site requests', () => {
  const path = (query: string) => `/graphql?query=${encodeURIComponent(query)}`;
  const get = (gateway: GatewayWithService, headers: Record<string, string>, query = GROUPS) =>
    fetch(new URL(path(query), gateway.url), { headers: { cookie: 'session=ada', ...headers } });

  it('with GET are refused, also with a password that the browser adds by itself', async () => {
    const gateway = await start();
    for (const headers of [{}, { authorization: 'Basic YWRhOnB3' }, { authorization: 'Bearer opaque' }]) {
      const response = await get(gateway, headers);
      const { errors } = await response.json();
      expect([response.status, errors[0].extensions.code]).toEqual([403, 'CSRF_REFUSED']);
      const accepted = 'GET requests require a header that prevents cross-site request forgery: send ';
      const own = Object.hasOwn(headers, 'authorization') ? '' : 'Authorization, or ';
      expect(errors[0].message).toBe(`${accepted}${own}"GraphQL-Require-Preflight: true".`);
    }
    expect(gateway.upstream()).toEqual([]);
    expect((await get(gateway, { cookie: 'session=signedOut', authorization: 'ApiKey a' })).status).toBe(200);
    expect(keysOf(gateway)).toEqual(['ApiKey a']);
    for (const name of ['graphql-require-preflight', 'apollo-require-preflight', 'x-requested-with']) {
      expect((await get(gateway, { [name]: 'true' })).status).toBe(200);
    }
    const mutation = await get(
      gateway,
      { 'x-requested-with': 'a' },
      'mutation { createNotificationGroup(input: { name: "A" }) { __typename } }',
    );
    expect(mutation.status).toBe(405);
    expect(gateway.upstream('POST')).toEqual([]);
  });

  it('with a form are refused, and pages of other origins may not send cookies', async () => {
    const gateway = await start({ corsOrigins: ['https://app.example.com'] });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a']) {
      expect((await as(gateway, 'ada', GROUPS, { headers: { 'content-type': type } })).status).toBe(415);
    }
    expect(gateway.upstream()).toEqual([]);
    for (const origin of ['https://app.example.com', 'https://evil.example.com']) {
      const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'cookie' };
      const preflight = await fetch(gateway.url, { method: 'OPTIONS', headers });
      const response = await as(gateway, 'ada', GROUPS, { headers: { origin } });
      for (const each of [preflight.headers, response.headers]) {
        expect(each.get('access-control-allow-credentials')).toBeNull();
      }
    }
  });
});

describe('a host that returns something else', () => {
  it.each([
    [{ tenant: 'acme', subject: 'ada', scopes: 'all' }],
    [{ tenant: 'acme', subject: 'ada', scopes: 'groups:read' }],
    [{ tenant: 'acme', subject: 'ada' }],
    [{ tenant: 'acme', subject: '', scopes: ['groups:read'] }],
    [{ tenant: 'acme', subject: 42, scopes: ['groups:read'] }],
    [{ tenant: 'acme', subject: { toString: () => 'ada' }, scopes: ['groups:read'] }],
    [{ tenant: 'acme', scopes: ['groups:read'] }],
    [{ tenant: ['acme'], subject: 'ada', scopes: ['groups:read'] }],
    ['ApiKey key-of-acme'],
    [true],
    [false],
    [[]],
  ])('gets an unexpected error, and nothing is called: %j', async (session) => {
    const gateway = await start({}, { authenticate: async () => session as never });
    const { status, codes } = await as(gateway, 'any', GROUPS, { authorization: 'ApiKey of-a-server' });
    expect([status, codes]).toEqual([500, ['INTERNAL_SERVER_ERROR']]);
    expect(gateway.upstream()).toEqual([]);
    const line = gateway.log.find(({ level }) => level === 50);
    expect(line).toMatchObject({ err: { type: 'ZodError', message: expect.stringMatching(/"authenticate"/) } });
  });

  it.each(['unknown', '', '__proto__', 'constructor', 'ACME', 'acme '])(
    'with the tenant %j is refused',
    async (tenant) => {
      const gateway = await start({}, { authenticate: () => ({ tenant, subject: 'ada', scopes: ['groups:read'] }) });
      const { status, body } = await as(gateway, 'any');
      expect([status, body.errors?.[0]?.extensions]).toMatchObject([
        401,
        { code: 'UNAUTHENTICATED', reason: 'TENANT_UNKNOWN' },
      ]);
      expect(gateway.upstream()).toEqual([]);
    },
  );

  it('with an error is refused, and its text stays in the log', async () => {
    const fail = () => {
      throw new Error('the session store at redis://secret is down');
    };
    for (const authenticate of [fail, async () => fail()]) {
      const gateway = await start({}, { authenticate });
      const { status, body, codes } = await as(gateway, 'any', GROUPS, { authorization: 'ApiKey of-a-server' });
      expect([status, codes]).toEqual([500, ['INTERNAL_SERVER_ERROR']]);
      expect(JSON.stringify(body)).not.toContain('redis');
      expect(gateway.upstream()).toEqual([]);
    }
  });
});

it('each person of a tenant has a rate limit, which no token with the same subject shares', async () => {
  const signer = createSigner();
  const rateLimit = { calls: 1, perSeconds: 60 };
  const browser = { ...clientsOf(signer).browser, scopes: SCOPES, rateLimit };
  const gateway = await start(browser);
  SESSIONS.eve = { tenant: 'acme', subject: 'eve', scopes: ['groups:read'] };
  const statusOf = async (session: string) => (await as(gateway, session)).status;
  expect([await statusOf('ada'), await statusOf('ada'), await statusOf('eve'), await statusOf('bob')]).toEqual([
    200, 429, 200, 200,
  ]);
  const authorization = await signer.bearer({ sub: 'ada' });
  expect((await as(gateway, 'signedOut', GROUPS, { authorization })).status).toBe(200);
});

it('trusted documents, explanations and tools are those of browsers', async () => {
  const gateway = await start(
    { trustedDocuments: 'enforce' },
    { trustedDocuments: { manifests: [manifest] }, mcp: MCP },
  );
  expect((await as(gateway, 'ada')).codes).toEqual(['DOCUMENT_NOT_TRUSTED']);
  const [listed = ''] = Object.values(manifest).filter((text) => text.startsWith('query NotificationGroups'));
  expect((await as(gateway, 'ada', listed)).status).toBe(200);
  const explained = await as(gateway, 'ada', listed, { extensions: { explain: true } });
  expect(explained.codes).toEqual(['FORBIDDEN']);
  gateway.forget();
  const call = (headers: Record<string, string>) =>
    fetch(new URL('/mcp', gateway.url), {
      method: 'POST',
      headers: {
        cookie: 'session=ada',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'Groups', arguments: {} },
      }),
    });
  expect((await call({})).status).toBe(401);
  expect(gateway.upstream()).toEqual([]);
  const called = await call({ authorization: 'ApiKey of-an-agent', 'mcp-protocol-version': '2025-06-18' });
  expect(await called.text()).toContain('notificationGroups');
  expect(keysOf(gateway)).toEqual(['ApiKey of-an-agent']);
});

it('the service is that of the tenant, and no other address of the gateway leads to another', async () => {
  await using gateway = await startGateway({ service: 'healthy' });
  const url = gateway.service.url;
  const upstreams = { eu: { url, pathPrefix: '/eu' }, us: { url: `${url}/us`, pathPrefix: '/us' } };
  const tenants = {
    acme: { key: TENANT_KEYS.acme, upstream: 'eu' },
    globex: { key: TENANT_KEYS.globex, upstream: 'us' },
  };
  await using several = createGateway({
    upstreams,
    authenticate: () => ({ tenant: 'globex', subject: 'bob', scopes: ['groups:read'] }),
    clients: { browser: { scopes: ['groups:read'], tenants } },
  });
  gateway.forget();
  const statusAt = async (path: string) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: GROUPS }),
    };
    return (await several.fetch(path, init)).status;
  };
  expect([await statusAt('/eu/graphql'), await statusAt('/us/graphql')]).toEqual([421, 200]);
  expect(gateway.upstream().map(({ path }) => path)).toEqual(['/us/v1/notification-groups']);
});

it('a gateway for tests has sessions too', async () => {
  await using gateway = await createTestGateway({
    records: { notificationGroups: ['Billing'] },
    authenticate: cookieOf,
    clients: { browser: { scopes: ['groups:read'], tenants: { acme: SANDBOX_KEYS.development } } },
  });
  const statusOf = async (cookie: string) => {
    const headers = { cookie, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: GROUPS });
    return (await gateway.fetch(gateway.url, { method: 'POST', headers, body })).status;
  };
  expect([await statusOf('session=ada'), await statusOf('session=signedOut')]).toEqual([200, 401]);
});

it('the audit log has the person, and no issuer', async () => {
  const folder = await createTestFolder();
  const audit = { to: { file: folder.path('audit.jsonl') }, required: true };
  const gateway = await start({}, { audit });
  const created = 'mutation { createNotificationGroup(input: { name: "A" }) { __typename } }';
  expect((await as(gateway, 'ada', created)).status).toBe(200);
  const lines = (await readFile(folder.path('audit.jsonl'), 'utf8')).trimEnd().split('\n');
  const [pending, applied] = lines.map((line): unknown => JSON.parse(line));
  for (const line of [pending, applied]) {
    expect(line).toMatchObject({ clientKind: 'browser', tenant: 'acme', subject: 'ada' });
    expect(line).not.toHaveProperty('issuer');
  }
  expect(lines).toHaveLength(2);
});

it('the function gets the request of the framework, with what its middleware has added', async () => {
  type Framework = IncomingMessage & { user?: { id: string } };
  const seen: unknown[] = [];
  const gateway = await start(
    {},
    {
      authenticate(request: Framework) {
        seen.push(request.url, request.headers.cookie);
        return { tenant: 'acme', subject: 'ada', scopes: ['groups:read'] };
      },
    },
  );
  expect((await as(gateway, 'x')).status).toBe(200);
  expect(seen).toEqual(['/graphql', 'session=x']);
});

it('options that don’t fit are refused', () => {
  const upstream = 'http://127.0.0.1:9';
  const authenticate = () => undefined;
  expect(() => createGateway({ upstream, authenticate })).toThrow(
    'authenticate needs clients.browser, with tenants and scopes.',
  );
  const clients = { browser: { tenants: TENANT_KEYS } };
  expect(() => createGateway({ upstream, clients })).toThrow('clients.browser needs issuers');
  expect(() => createGateway({ upstream, clients, ...{ authentcate: authenticate } })).toThrow(
    'did you mean "authenticate"',
  );
});
