import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { getIntrospectionQuery } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';

guards('src/documents/validate.ts', 'useDocumentLimits.onParse');
guards('src/documents/validate.ts', 'useDocumentLimits.onValidate');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.constructor');
guards('src/http/adapters/node-adapter.ts', 'createHostCheck.isValid');
guards('src/documents/engine.ts', 'resolveOperation');
guards('src/http/head.ts', 'readHead');
guards('src/http/head.ts', 'requireJson');
guards('src/http/adapters/node-adapter.ts', 'originForm');

const gateway = ofFile(await startGateway({ service: 'sandbox' }));

afterEach(async () => {
  expect(await gateway.data('{ __typename }')).toEqual({ __typename: 'Query' }); // The gateway still works after each test.
});

const JSON_TYPE = { 'content-type': 'application/json', authorization: 'ApiKey canary-key' };

/** Sends a raw request and checks that it causes no upstream call and that the response reveals no internals. */
async function send(init: RequestInit & { duplex?: 'half' }, path = '') {
  gateway.forget();
  const response = await fetch(gateway.url + path, init);
  const text = await response.text();
  expect(gateway.upstream()).toHaveLength(0);
  expect(text).not.toMatch(/canary-key|node_modules|\bat .+:\d+:\d+|originalError/);
  return { status: response.status, headers: response.headers, text };
}

const post = (body: string, headers: Record<string, string> = {}) =>
  send({ method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });

const query = (document: string, headers: Record<string, string> = {}) =>
  post(JSON.stringify({ query: document }), headers);

describe('an invalid GraphQL request is rejected with 400', () => {
  it.each([
    ['text that is not JSON', 'NONSENSE'],
    ['null', 'null'],
    ['a batch', '[{"query":"{ __typename }"}]'],
    ['an unknown parameter', '{"query":"{ __typename }","extra":1}'],
  ])('%s', async (_, body) => {
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
      const { status, text } = await post(body, { accept });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        errors: [{ message: expect.any(String), extensions: { retryable: false } }],
      });
    }
  });

  it('variables in the URL that are not JSON', async () => {
    const { status } = await send({ headers: JSON_TYPE }, '?query={__typename}&variables={');
    expect(status).toBe(400);
  });
});

it.each(['[:::::]', 'localhost:99999', 'a b', '::1', 'x#y', 'user@host'])(
  'the invalid Host header %j is rejected with 400',
  async (host) => {
    const body = JSON.stringify({ query: '{ __typename }' });
    for (const [method, path] of [
      ['POST', '/graphql'],
      ['GET', '/graphql?query={__typename}'],
      ['GET', '/elsewhere'],
    ]) {
      const headers = { ...JSON_TYPE, host, ...(method === 'POST' && { 'content-length': body.length }) };
      const request = sendRequest(new URL(path ?? '', gateway.url), { method, headers });
      request.end(method === 'POST' ? body : undefined);
      const [response] = await once(request, 'response');
      const text = await readText(response);
      expect(response.statusCode).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }] });
    }
  },
);

it('a target that is not valid in a URL is rejected with 400', async () => {
  for (const [method, path] of [
    ['GET', 'http://[:::::]/graphql'],
    ['POST', 'http://localhost:99999/graphql'],
  ]) {
    const request = sendRequest({ host: new URL(gateway.url).hostname, port: new URL(gateway.url).port, method, path });
    request.end();
    const [response] = await once(request, 'response');
    expect([path, response.statusCode]).toEqual([path, 400]);
    expect(await readText(response)).toMatch(
      /^\{"errors":\[\{"message":"The Host header or the request target is invalid/,
    );
  }
});

it('a document with more than 32,768 characters is rejected with 400, even with few tokens', async () => {
  for (const document of [`{ __typename } #${'x'.repeat(32_768)}`, `{ __typename }${' '.repeat(32_768)}`]) {
    const { status, text } = await query(document);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      errors: [
        { message: 'The document has more than 32768 characters.', extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED' } },
      ],
    });
  }
});

it('a document with more than 1,000 tokens is rejected with 400, even with few fields', async () => {
  const { status, text } = await query(`{ workflows(idsOrIdentifiers: [${'"a" '.repeat(1_000)}]) { id } }`);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    errors: [{ message: 'The document has more than 1000 tokens.', extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED' } }],
  });
});

it.each([
  ['a document of 1,000 tokens is not too large', `{ ${'__typename '.repeat(999)}`],
  [
    'an invalid character before the 1,001st token is a syntax error',
    `{ ${'a '.repeat(999)}\u0000 ${'a '.repeat(999)}`,
  ],
])('%s', async (_, document) => {
  const { status, text } = await query(document);
  expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
});

it('a key with more than 2,048 characters is rejected with 401', async () => {
  const { status } = await query('{ __typename }', { authorization: `ApiKey ${'k'.repeat(2_049)}` });
  expect(status).toBe(401);
});

describe('a document that exceeds a limit is rejected with 400 before validation', () => {
  const nested = (depth: number) => `{ ${'workflow(idOrIdentifier: "a") { '.repeat(depth)} id ${'}'.repeat(depth)} }`;
  const names = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
  const documents: [string, string][] = [
    ['braces nested 60,000 deep', '{a'.repeat(60_000)],
    ['a list nested 60,000 deep', `{ a(x: ${'['.repeat(60_000)}) }`],
    [
      '31 aliases through a fragment',
      `{ workflow(idOrIdentifier: "a") { ...f ...f } } fragment f on Workflow { ${Array.from({ length: 16 }, (_, i) => `a${i}: id`).join(' ')} }`,
    ],
    [
      '21 root mutations',
      `mutation { ${Array.from({ length: 21 }, () => 'deleteFeed(input: { id: "a" }) { __typename }').join(' ')} }`,
    ],
    [
      '21 root fields through fragments',
      `{ ...a ...a ...a } fragment a on Query { ${'notificationGroups { id } '.repeat(7)} }`,
    ],
    ['11 levels', nested(10)],
    ['501 fields', `{ workflow(idOrIdentifier: "a") { ${'id '.repeat(500)} } }`],
    ['6 aliases inside of __schema', `{ __schema { ${names(6, 'types { name }')} } }`],
    ['6 aliases of what a router reads', `{ ${names(6, '_service { sdl }')} }`],
    ['51 directives', `{ __typename ${'@include(if: true) '.repeat(51)} }`],
    ['a subscription', 'subscription { workflow }'],
  ];

  it.each(documents)('%s', async (_, document) => {
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
      const { status, text } = await query(document, { accept });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        errors: [{ extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED', retryable: false } }],
      });
      expect(JSON.parse(text)).not.toHaveProperty('data');
    }
  });

  it.each([
    ['@defer', '{ ... @defer { __typename } }'],
    ['@stream', '{ notificationGroups @stream { id } }'],
    ['a fragment that contains itself', '{ ...a } fragment a on Query { ...a }'],
    [
      'introspection that nests lists',
      `{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }`,
    ],
  ])('%s', async (_, document) => {
    const { status } = await query(document, { accept: 'application/graphql-response+json' });
    expect(status).toBe(400);
  });

  it('a document just within the limits is executed', async () => {
    const aliases = Array.from({ length: 30 }, (_, i) => `a${i}: __typename`).join(' ');
    expect(await gateway.data(`{ workflow(idOrIdentifier: "none") { ${aliases} } }`)).toEqual({ workflow: null });
    expect(await gateway.data(`{ workflow(idOrIdentifier: "none") { ${'id '.repeat(499)} } }`)).toEqual({
      workflow: null,
    });
    expect(await gateway.data(`{ ${'__typename '.repeat(20)} }`)).toEqual({ __typename: 'Query' });
    expect(await gateway.data(`{ __typename ${'@include(if: true) '.repeat(1)} }`)).toEqual({ __typename: 'Query' });
  });

  it('GraphiQL’s introspection is executed', async () => {
    const introspection = getIntrospectionQuery({
      inputValueDeprecation: true,
      schemaDescription: true,
      directiveIsRepeatable: true,
    });
    expect(await gateway.data(introspection)).toHaveProperty('__schema');
    const types = Array.from({ length: 5 }, (_, i) => `a${i}: __type(name: "Workflow") { name }`).join(' ');
    expect(await gateway.data(`{ ${types} }`)).toHaveProperty('a4');
  });
});

describe('methods, paths and content types', () => {
  it('a method other than GET and POST is rejected with 405 and Allow', async () => {
    const { status, headers } = await send({ method: 'OPTIONS', headers: JSON_TYPE });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  it('a GET request is rejected with 403 unless it has a CSRF prevention header', async () => {
    const path = '?query={__typename}';
    expect(await send({}, path)).toMatchObject({ status: 403, text: expect.stringContaining('CSRF_REFUSED') });
    for (const headers of [{ 'graphql-require-preflight': 'true' }, { authorization: 'ApiKey x' }]) {
      expect(await send({ headers }, path)).toMatchObject({ status: 200, text: '{"data":{"__typename":"Query"}}' });
    }
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
    'a POST request with the content type %j is rejected with 415',
    async (type) => {
      const body = new Blob(['{"query":"{ __typename }"}'], { type });
      const { status, text } = await send({
        method: 'POST',
        headers: type === '' ? {} : { 'content-type': type },
        body,
      });
      expect(status).toBe(415);
      expect(text).toContain('UNSUPPORTED_MEDIA_TYPE');
    },
  );

  it.each(['/graphql/', '/x/graphql'])('the path %s responds with 404', async (path) => {
    const { status } = await gateway.send('{ __typename }', {}, { path });
    expect(status).toBe(404);
  });
});

describe('one of the operations in a document', () => {
  const CREATE = 'mutation Create { createFeed(input: { name: "Unwanted" }) { __typename } }';

  it.each<[string, Record<string, string>]>([
    ['with only one operation', { query: CREATE }],
    ['selected by name', { query: `query Read { __typename } ${CREATE}`, operationName: 'Create' }],
    ['with extensions', { query: CREATE, extensions: '{"a":1}' }],
  ])('is rejected if it is a mutation that is sent with GET, %s', async (_, params) => {
    for (let i = 0; i < 5; i += 1) {
      const { status, headers, text } = await send({ headers: JSON_TYPE }, `?${new URLSearchParams(params)}`);
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
      expect(text).toContain('METHOD_NOT_ALLOWED');
    }
  });

  it('is executed if it is a query that is sent with GET, even if another one is a mutation', async () => {
    gateway.forget();
    const query = `query Read { notificationGroups { name } } ${CREATE}`;
    const response = await fetch(`${gateway.url}?${new URLSearchParams({ query, operationName: 'Read' })}`, {
      headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}` },
    });
    expect(await response.json()).not.toHaveProperty('errors');
    expect(gateway.upstream()).toHaveLength(1);
  });

  it.each<[string, object]>([
    ['no name for two operations', { query: `query A { __typename } ${CREATE}` }],
    ['an unknown name', { query: CREATE, operationName: 'Other' }],
    ['a name that ends in NUL', { query: CREATE, operationName: 'Create\0' }],
    ['no operation', { query: 'fragment F on Query { __typename }' }],
  ])('is not found, and nothing is sent: %s', async (_, body) => {
    const { status, text } = await post(JSON.stringify(body));
    expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([400, 'OPERATION_RESOLUTION_FAILURE']);
  });
});

describe('the size of the body', () => {
  it('over 256 KiB in chunks is rejected with 413 while it is read', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 10_000) {
          controller.close(); // 640 MiB
        } else {
          controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
        }
      },
    });
    const outcome = await send({ method: 'POST', headers: JSON_TYPE, body: endless, duplex: 'half' }).catch(
      () => undefined,
    );
    expect(outcome?.status ?? 413).toBe(413); // If the response arrives before the body is sent, fetch may only see a closed connection.
    expect(sent).toBeLessThan(500); // Socket buffers take some of the body.
  });

  it('of 255 KiB is accepted, with Content-Length and in chunks', async () => {
    const body = JSON.stringify({ query: '{ __typename }', variables: { x: 'x'.repeat(255 * 1024) } });
    expect((await post(body)).status).toBe(200);
    const chunks = new Blob([body]).stream();
    expect((await send({ method: 'POST', headers: JSON_TYPE, body: chunks, duplex: 'half' })).status).toBe(200);
  });
});

it('introspection can be disabled', async () => {
  await using closed = await startGateway({ service: 'sandbox', introspection: false });
  const { status } = await closed.send('{ __schema { types { name } } }');
  expect(status).toBe(400);
  expect(await closed.data('{ notificationGroups { __typename } }')).toHaveProperty('notificationGroups');
});
