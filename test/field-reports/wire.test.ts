import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { GraphQLError, parse, print, stripIgnoredCharacters } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type GatewayWithService, startGateway, type TestDeps } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

import { ofFile } from '../support/lifetime.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/documents/trusted-documents.ts', 'TrustedDocuments.#findByText');
guards('src/http/pipeline/response-head.ts', 'preflightHeaders');
guards('src/http/head.ts', 'requireJson');
guards('src/http/pipeline/client-token-route.ts', 'createClientTokenRoute.issue');

const GROUPS = 'query Groups { notificationGroups { name } }';
const NAMES = [{ name: 'Group' }, { name: 'Group' }];
const authorization = 'ApiKey a';
const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const start = (options: Partial<GatewayOptions> = {}, deps: TestDeps = {}) =>
  startGateway({ service: 'healthy', ...options }, deps);

/** Sends a request and returns its response with the parsed body and the calls that it caused. */
async function send(
  { url, service }: GatewayWithService,
  { headers = {}, body = { query: GROUPS }, path = '', method = 'POST' }: RequestOptions = {},
) {
  service.forget();
  const hasBody = method === 'POST';
  const response = await fetch(path.startsWith('/') ? new URL(path, url) : url + path, {
    method,
    headers: { authorization, ...(hasBody && { 'content-type': 'application/json' }), ...headers },
    ...(hasBody && { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = text.startsWith('{') ? JSON.parse(text) : undefined;
  const code = parsed?.errors?.[0]?.extensions?.code;
  return { status: response.status, headers: response.headers, body: parsed, code, calls: service.calls() };
}

interface RequestOptions {
  headers?: Record<string, string>;
  body?: object | string | Uint8Array<ArrayBuffer>;
  /** Path, or query string after that of the endpoint. @default the endpoint's */
  path?: string;
  method?: string;
}

const GROUP_CALLS = ['GET /v1/notification-groups'];

const TOKENS: Partial<GatewayOptions> = {
  clientTokens: { secrets: ['s'.repeat(32)] },
  clients: clientsOf(createSigner()),
};
const TOKEN_REQUEST = {
  path: '/client-tokens',
  headers: { authorization: 'ApiKey key-of-acme' },
  body: { scopes: ['groups:read'] },
};

describe('R20: automatic persisted queries', () => {
  const WORKFLOW = 'query Flow($id: ID!) { workflow(idOrIdentifier: $id) { name } }';

  /** Clients with their default settings, which send hashes first. */
  const CLIENTS = {
    urql(url: string, send: typeof fetch) {
      const exchanges = [persistedExchange(), fetchExchange];
      const client = new Client({ url, fetch: send, exchanges, fetchOptions: { headers: { authorization } } });
      return async (text: string) => {
        const { data, error } = await client.query(text, { id: 'w1' });
        return error === undefined ? data : error.message;
      };
    },
    'Apollo Client'(uri: string, send: typeof fetch) {
      const link = new PersistedQueryLink({ sha256 }).concat(
        new HttpLink({ uri, fetch: send, headers: { authorization } }),
      );
      const client = new ApolloClient({ cache: new InMemoryCache(), link });
      return async (text: string) => {
        const { data, error } = await client.query({
          query: parse(text),
          variables: { id: 'w1' },
          fetchPolicy: 'no-cache',
          errorPolicy: 'all',
        });
        return error === undefined ? data : error.message;
      };
    },
  };

  async function ask(create: (typeof CLIENTS)['urql'], options: Partial<GatewayOptions>, texts: readonly string[]) {
    await using gateway = await start(options);
    const codes: unknown[] = [];
    const client = create(gateway.url, async (input, init) => {
      const response = await fetch(input, init);
      const { errors } = await response.clone().json();
      codes.push(errors?.[0]?.extensions.code ?? response.status);
      return response;
    });
    const data: unknown[] = [];
    for (const text of texts) {
      data.push(await client(text));
    }
    return { data, codes };
  }
  const groups = expect.objectContaining({ notificationGroups: NAMES.map((name) => expect.objectContaining(name)) });
  const workflow = expect.objectContaining({ workflow: expect.objectContaining({ name: expect.any(String) }) });

  const MANIFEST = { manifests: [{ other: '{ __typename }' }] };
  const NOT_FOUND = 'PERSISTED_QUERY_NOT_FOUND';

  describe.each(Object.entries(CLIENTS))('R20: %s', (_, create) => {
    it('stops sending hashes to a gateway without a manifest', async () => {
      const { data, codes } = await ask(create, {}, [GROUPS, WORKFLOW, GROUPS]);
      expect(data).toEqual([groups, workflow, groups]);
      expect(codes).toEqual(['PERSISTED_QUERY_NOT_SUPPORTED', 200, 200, 200]);
    });

    it('sends the text of what no manifest has', async () => {
      const { data, codes } = await ask(create, { trustedDocuments: MANIFEST }, [GROUPS, WORKFLOW]);
      expect(data).toEqual([groups, workflow]);
      expect(codes).toEqual([NOT_FOUND, 200, NOT_FOUND, 200]);
    });

    it('sends a text that is rejected where it must be listed', async () => {
      const clients = { server: { trustedDocuments: 'enforce' as const } };
      const { data, codes } = await ask(create, { trustedDocuments: MANIFEST, clients }, [GROUPS]);
      expect(data).toEqual([expect.stringContaining('only trusted documents')]);
      expect(codes).toEqual([NOT_FOUND, 'DOCUMENT_NOT_TRUSTED']);
    });
  });

  it('R20: the errors without a manifest are those of the convention, without a call', async () => {
    await using gateway = await start({ mcp: {} }); // Tools for agents are no manifest of apps.
    const body = { extensions: { persistedQuery: { version: 1, sha256Hash: sha256(GROUPS) } } };
    const error = { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } };
    expect(await send(gateway, { body })).toMatchObject({ status: 400, calls: [], body: { errors: [error] } });
    // An id of a trusted document is no such hash: nothing would send the text.
    expect(await send(gateway, { body: { documentId: sha256(GROUPS) } })).toMatchObject({
      status: 400,
      code: NOT_FOUND,
    });
  });

  it('R20: a hash with another text is rejected', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(`${GROUPS} `) } };
    expect(await send(plain, { body: { query: GROUPS, extensions } })).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
      calls: [],
    });
  });
});

const PRINTED = print(
  parse('query Flow($id: ID!) { workflow(idOrIdentifier: $id) { ...Part } } fragment Part on Workflow { id name }'),
);
const ONE_LINE = PRINTED.replace(/\s+/g, ' ').trim();

/** Gateway that accepts only the documents of a manifest. */
const enforcing = ofFile(
  await start({
    trustedDocuments: { manifests: [{ id: ONE_LINE, string: '{ workflow(idOrIdentifier: "a b") { name } }' }] },
    clients: { server: { trustedDocuments: 'enforce' } },
  }),
);

describe('R21: a manifest with texts on one line', () => {
  const variables = { id: 'w1' };

  it.each([
    ['the printed text', PRINTED],
    ['the text itself', ONE_LINE],
    ['the text without ignored characters', stripIgnoredCharacters(PRINTED)],
    ['another layout with comments', `# App\n${PRINTED.replaceAll(',', '').replaceAll('{', '{ # open\n')}`],
  ])('R21: trusts %s', async (_, query) => {
    for (let i = 0; i < 2; i += 1) {
      expect(await send(enforcing, { body: { query, variables } })).toMatchObject({
        status: 200,
        body: { data: { workflow: { name: expect.any(String) } } },
        calls: ['GET /v1/workflows/w1'],
      });
    }
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
    expect((await send(enforcing, { body: { query, variables, extensions } })).status).toBe(200);
  });

  it('R21: still identifies documents by the hash of their own text', async () => {
    expect((await send(enforcing, { body: { documentId: sha256(ONE_LINE), variables } })).status).toBe(200);
    expect((await send(enforcing, { body: { documentId: sha256(PRINTED), variables } })).code).toBe(
      'PERSISTED_QUERY_NOT_FOUND',
    );
    const body = { documentId: sha256(ONE_LINE), query: PRINTED, variables };
    expect((await send(enforcing, { body })).code).toBe('BAD_REQUEST');
  });

  it.each([
    ['another field', PRINTED.replace('name', 'active')],
    ['another value in a string', '{ workflow(idOrIdentifier: "a  b") { name } }'],
    ['an additional operation', `${PRINTED}\nquery Other { __typename }`],
    ['a text that is no document', '{ workflow(idOrIdentifier: "'],
    ['a long text', `${PRINTED}${' '.repeat(40_000)}`],
  ])('R21: rejects %s', async (_, query) => {
    for (let i = 0; i < 2; i += 1) {
      expect(await send(enforcing, { body: { query, variables } })).toMatchObject({
        status: 400,
        code: 'DOCUMENT_NOT_TRUSTED',
        calls: [],
      });
    }
  });

  it('R21: follows a token that permits only this document', async () => {
    await using gateway = await start({
      ...TOKENS,
      trustedDocuments: { manifests: [{ flow: ONE_LINE, groups: GROUPS, sameFlow: PRINTED }] }, // The same document in two formats.
    });
    const body = { scopes: ['workflows:read', 'groups:read'], documents: ['flow'] };
    const issued = await send(gateway, { ...TOKEN_REQUEST, body });
    const headers = { authorization: `Bearer ${issued.body.token}` };
    for (const query of [ONE_LINE, PRINTED, stripIgnoredCharacters(PRINTED)]) {
      expect((await send(gateway, { headers, body: { query, variables } })).status).toBe(200);
    }
    expect((await send(gateway, { headers, body: { query: GROUPS } })).code).toBe('DOCUMENT_NOT_TRUSTED');
  });
});

/** Gateways that several tests share. */
const plain = ofFile(await start());
const issuing = ofFile(await start(TOKENS));

describe('R22: Accept', () => {
  it.each<[accept: string, type: string | undefined]>([
    ['application/json;q=0.1, application/graphql-response+json', GRAPHQL_TYPE],
    ['application/graphql-response+json;q=0.1, application/json;q=0.25', JSON_TYPE],
    ['application/json, application/graphql-response+json', JSON_TYPE],
    ['application/graphql-response+json, application/json', GRAPHQL_TYPE],
    ['application/graphql-response+json, application/json;q=0.9', GRAPHQL_TYPE],
    ['text/html, application/json;q=0.5', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/*', JSON_TYPE],
    ['*/*;q=0.1, application/graphql-response+json', GRAPHQL_TYPE],
    ['*/*, application/graphql-response+json', GRAPHQL_TYPE],
    ['*/*, application/graphql-response+json;q=0.1', JSON_TYPE],
    ['application/json;q=0, */*', GRAPHQL_TYPE],
    ['*/*, application/json;q=0', GRAPHQL_TYPE],
    ['*/*;q=0, application/json;q=0.001', JSON_TYPE],
    ['application/*;q=0, */*', undefined],
    ['application/json;q=0', undefined],
    ['application/json; q=0.000', undefined],
    ['*/*;q=0', undefined],
    ['APPLICATION/JSON ; Q=1', JSON_TYPE],
    ['application/json; charset="utf-8"', JSON_TYPE],
    ['application/json; charset="UTF-8"; q=0.5', JSON_TYPE],
    ['application/json; charset=utf-8', JSON_TYPE],
    ['application/json; charset="latin1", application/graphql-response+json;q=0.1', GRAPHQL_TYPE],
    ['application/json;charset=utf-8;q=0, application/json, application/graphql-response+json;q=0.1', GRAPHQL_TYPE],
    ['text/html; title="a, application/json;q=1"', undefined],
    ['text/html; title="a \\", application/json;q=1", application/graphql-response+json;q=0.2', GRAPHQL_TYPE],
    ['image/png', undefined],
    ['application/json;q=high', JSON_TYPE],
    [', application/json;q=1.5,, application/graphql-response+json', JSON_TYPE],
    ['application/graphql-response+json, application/json;q=1.5,', GRAPHQL_TYPE],
  ])('R22: %j leads to %j', async (accept, type) => {
    const { status, headers, code, calls } = await send(plain, { headers: { accept } });
    expect([status, headers.get('content-type'), code, calls]).toEqual(
      type === undefined ? [406, JSON_TYPE, 'NOT_ACCEPTABLE', []] : [200, type, undefined, GROUP_CALLS],
    );
  });

  it('R22: a long header takes no longer than a pipeline step of a long body', async () => {
    for (const part of ['"', '"\\', '\\"', ',', ';', 'a/b;q=0.5,', ' ', '"a",', 'application/json;q=0,']) {
      const accept = `${part.repeat(15_000 / part.length)},*/*`;
      const startedAt = process.cpuUsage();
      await send(plain, { headers: { accept } });
      const { user } = process.cpuUsage(startedAt);
      expect([part, user < 300_000]).toEqual([part, true]);
    }
  });
});

// Those of rejected requests are in test/errors/codes.test.ts, those of the page and its files in test/http/graphiql.test.ts.
describe('R23: Cache-Control', () => {
  it('R23: is no-store in every response of the endpoint', async () => {
    await using gateway = await start({ ...TOKENS, mcp: {}, graphiql: true });
    const origin = { origin: 'https://elsewhere.example' };
    const search = `?query=${encodeURIComponent(GROUPS)}`;
    const initialize = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const mcp = { path: '/mcp', headers: { accept: 'application/json, text/event-stream' } };
    const answers: [string, RequestOptions, number][] = [
      ['a query', {}, 200],
      ['GET with Authorization', { method: 'GET', path: search }, 200],
      ['a refused preflight', { method: 'OPTIONS', headers: origin }, 405],
      ['GET of client tokens', { method: 'GET', path: '/client-tokens' }, 405],
      ['a client token', TOKEN_REQUEST, 200],
      ['tools', { ...mcp, body: initialize }, 200],
      ['GET of tools', { ...mcp, method: 'GET' }, 405],
    ];
    for (const [name, request, status] of answers) {
      const { headers, ...response } = await send(gateway, request);
      expect([name, response.status, headers.get('cache-control')]).toEqual([name, status, 'no-store']);
    }
  });

  it('R23: is no-store when the server sheds load', async () => {
    await using gateway = await start({}, { server: { maxInFlightRequests: 0 } });
    const { status, headers } = await send(gateway);
    expect([status, headers.get('cache-control')]).toEqual([503, 'no-store']);
  });
});

const ORIGIN = 'https://app.example.com';
const crossOrigin = ofFile(await start({ clients: { server: { corsOrigins: [ORIGIN] } }, mcp: {} }));

describe('R26: the preflight of an allowed origin', () => {
  const ask = async (asked?: string, origin = ORIGIN, path = '') =>
    send(crossOrigin, {
      method: 'OPTIONS',
      path,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        ...(asked !== undefined && { 'access-control-request-headers': asked }),
      },
    });

  it.each<[string, string | undefined, string | null]>([
    ['tracing headers', 'baggage, sentry-trace', 'baggage, sentry-trace'],
    ['the headers of GraphQL requests', 'authorization,content-type', 'authorization, content-type'],
    ['names in upper case', 'X-Custom', 'X-Custom'],
    ['no headers', undefined, null],
    ['an empty list', '', null],
    ['invalid names too', 'baggage, a b, x:y, "q", é, ok', 'baggage, ok'],
    ['too many', Array.from({ length: 400 }, (_, i) => `x-header-${i}`).join(','), null],
  ])('R26: allows %s', async (_, asked, allowed) => {
    for (const path of ['', '/mcp']) {
      const { status, headers } = await ask(asked, ORIGIN, path);
      expect([status, headers.get('access-control-allow-headers')]).toEqual([204, allowed]);
      expect(headers.get('vary')).toBe('Access-Control-Request-Headers, Origin');
    }
  });

  it('R26: allows nothing to other origins', async () => {
    const { status, headers } = await ask('baggage', 'https://elsewhere.example');
    expect([status, headers.get('access-control-allow-headers'), headers.get('vary')]).toEqual([405, null, 'Origin']);
  });
});

describe('R27: encodings', () => {
  const BOM = '\u{feff}';

  it.each([
    ['Identity', 200],
    ['identity', 200],
    ['', 200],
    ['gzip', 415],
    ['identity, gzip', 415],
    ['x-identity', 415],
  ])('R27: requests with Content-Encoding "%s" have the status %i', async (encoding, status) => {
    const headers = { 'content-encoding': encoding };
    const { calls, ...response } = await send(issuing, { headers });
    expect([response.status, calls]).toEqual([status, status === 200 ? GROUP_CALLS : []]);
    const token = { ...TOKEN_REQUEST, headers: { ...TOKEN_REQUEST.headers, ...headers } };
    expect((await send(issuing, token)).status).toBe(status);
  });

  it.each(['listener', 'fetch'] as const)('R27: a body with a byte order mark is read by %s', async (entry) => {
    await using gateway = await start({ ...TOKENS, mcp: {} }, { entry });
    const marked = (body: object) => BOM + JSON.stringify(body);
    expect(await send(gateway, { body: marked({ query: GROUPS }) })).toMatchObject({
      body: { data: { notificationGroups: NAMES } },
    });
    expect((await send(gateway, { ...TOKEN_REQUEST, body: marked(TOKEN_REQUEST.body) })).status).toBe(200);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const headers = { accept: 'application/json, text/event-stream' };
    expect((await send(gateway, { path: '/mcp', headers, body: marked(list) })).status).toBe(200);
    expect((await send(gateway, { body: `${BOM}${marked({ query: GROUPS })}` })).code).toBe('BAD_REQUEST');
  });

  it.each([
    ['Content-Encoding: Identity', { 'content-encoding': 'Identity' }, ''],
    ['an empty Content-Encoding', { 'content-encoding': '' }, ''],
    ['a byte order mark', {}, BOM],
  ])('R27: a response of the service with %s is read', async (_, headers, mark) => {
    const respond = (status: number, body: object) => ({ status, headers, body: mark + JSON.stringify(body) });
    await using gateway = await startGateway({
      service: ({ method }) =>
        method === 'GET'
          ? respond(200, { data: [{ _id: 'g1', name: 'Group' }] })
          : respond(409, { message: 'This name is taken.' }),
    });
    expect((await send(gateway)).body).toEqual({ data: { notificationGroups: [{ name: 'Group' }] } });
    const query = 'mutation { createFeed(input: { name: "f" }) { ... on MutationError { message } } }';
    expect((await send(gateway, { body: { query } })).body).toEqual({
      data: { createFeed: { message: 'This name is taken.' } },
    });
  });
});

it('R27: files with a byte order mark are read: a manifest, and the key of a tenant', async () => {
  await using folder = await createTemporaryFolder();
  const [manifest, key] = [folder.path('manifest.json'), folder.path('acme')];
  await writeFile(manifest, `\u{feff}${JSON.stringify({ groups: GROUPS })}`);
  await writeFile(key, '\u{feff}key-of-file\n');
  const signer = createSigner();
  await using gateway = await start({
    trustedDocuments: { manifests: [manifest] },
    clients: clientsOf(signer, { tenants: { acme: { file: key } } }),
  });
  const headers = { authorization: await signer.bearer() };
  expect((await send(gateway, { headers, body: { documentId: 'groups' } })).status).toBe(200);
  expect(gateway.service.requests[0]?.headers.authorization).toBe('ApiKey key-of-file');
});

it('operationName is absent if it is empty', async () => {
  await using gateway = await start({ trustedDocuments: { manifests: [{ groups: GROUPS }] } });
  for (const request of [
    { body: { query: GROUPS, operationName: '' } },
    { body: { documentId: 'groups', operationName: '' } },
    { method: 'GET', path: `?query=${encodeURIComponent(GROUPS)}&operationName=` },
    { method: 'GET', path: '?documentId=groups&operationName=' },
  ]) {
    expect([request, (await send(gateway, request)).status]).toEqual([request, 200]);
  }
});

// Errors of resolvers are in test/modules/odd-errors.test.ts.
describe('R29: an error of a host', () => {
  const HOOKS = ['onParse', 'onValidate', 'onContextBuilding', 'onExecute'];
  const SECRET = 'a secret of the host';
  /** Error of a class that declares `extensions`, which in JavaScript creates the member without a value. */
  const declaring = <E extends Error>(error: E): E => Object.defineProperty(error, 'extensions', { value: undefined });
  const fail = () => {
    throw new Error('read');
  };

  const ERRORS: [string, () => unknown][] = [
    ['a GraphQL error without extensions', () => declaring(new GraphQLError(SECRET))],
    ['an error without extensions', () => declaring(new Error(SECRET))],
    ['a frozen error', () => Object.freeze(new Error(SECRET))],
    ['a frozen GraphQL error with a path', () => Object.freeze(new GraphQLError(SECRET, { path: ['a'] }))],
    ['an error with a frozen cause', () => new AggregateError([Object.freeze(new Error(SECRET))], 'secret')],
    ['a frozen object', () => Object.freeze({ message: SECRET })],
    // Values that throw when they are read.
    ['an object without a prototype', () => Object.assign(Object.create(null), { a: SECRET })],
    ['a revoked proxy', () => revoked()],
    ['an error whose message throws', () => Object.defineProperty(new Error(SECRET), 'message', { get: fail })],
    [
      'a GraphQL error whose code throws',
      () =>
        new GraphQLError(SECRET, { extensions: Object.defineProperty({}, 'code', { get: fail, enumerable: true }) }),
    ],
  ];
  function revoked(): unknown {
    const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
    revoke();
    return proxy;
  }

  const masked = {
    message: 'Unexpected error.',
    extensions: {
      code: 'INTERNAL_SERVER_ERROR',
      retryable: false,
      requestId: expect.any(String),
      errorId: expect.any(String),
    },
  };

  it.each(ERRORS)('R29: %s of a hook is masked and logged', async (_, create) => {
    let failing = '';
    const plugin = Object.fromEntries(
      HOOKS.map((hook) => [
        hook,
        () => {
          if (hook === failing) {
            throw create();
          }
        },
      ]),
    );
    await using gateway = await start({ plugins: [plugin] });
    for (failing of HOOKS) {
      const { status, body, calls } = await send(gateway);
      expect([failing, status, body, calls]).toEqual([failing, 500, { errors: [expect.objectContaining(masked)] }, []]);
      const logged = gateway.log.splice(0).filter(({ level }) => level === 50);
      expect(logged).toMatchObject([{ errorId: body.errors[0].extensions.errorId }]);
    }
  });

  it('R29: one in a result of a plugin is masked', async () => {
    const errors = [declaring(new GraphQLError('a secret of the host', { path: ['b'] }))];
    const plugin: Plugin = {
      onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { a: 1, b: null }, errors }),
    };
    await using gateway = await start({ plugins: [plugin] });
    const { status, body } = await send(gateway);
    expect([status, body]).toEqual([200, { data: { a: 1, b: null }, errors: [{ ...masked, path: ['b'] }] }]);
  });
});
