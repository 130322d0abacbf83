import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOperations } from '../../src/graphql/documents/shipped-operations.ts';
import { type GatewayPair, startGatewayPair, type WireRequest } from '../support/gateway-pair.ts';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import type { Script, ServiceResponse } from '../support/service.ts';

/** Upstream responses of the current test by endpoint, which override `RESPONSES`. */
let overrides: Record<string, ServiceResponse> = {};

const step = {
  _id: 's1',
  name: 'Step',
  active: true,
  shouldStopOnFail: false,
  template: { _id: 't1', type: 'email', content: 'Hi' },
};

const RESPONSES: Record<string, ServiceResponse> = {
  'GET /v1/workflows': { body: { data: workflow({ steps: [step], tags: ['a', 'b'] }) } },
  'PUT /v1/workflows': { body: { data: workflow() } },
  'GET /v1/notification-groups': { body: { data: [group(), group({ _id: 'g2', name: 'Other' })] } },
  'POST /v1/notification-groups': { status: 201, body: { data: group() } },
  'PATCH /v1/notification-groups': { body: { data: group() } },
  'DELETE /v1/notification-groups': { body: { data: { acknowledged: true, status: 'deleted' } } },
  'GET /v1/notifications': {
    body: [{ _id: '2026-01-02', count: 3, templates: ['w1', 'w2'], channels: ['email', 'fax'] }],
  },
  'POST /v1/subscribers': { status: 201, body: { data: subscriber() } },
  'POST /v1/feeds': { status: 201, body: { data: feed() } },
  'DELETE /v1/feeds': { body: { data: [feed()] } },
  'DELETE /v1/messages': { body: { data: { acknowledged: true, status: 'deleted' } } },
};

const script: Script = ({ method, path }) => {
  const endpoint = `${method} ${path.split('/').slice(0, 3).join('/').replace(/\?.*/, '')}`;
  if (/\/v1\/notification-groups\/g1/.test(path) && method === 'GET' && overrides[endpoint] === undefined) {
    return { body: { data: group() } };
  }
  return overrides[endpoint] ?? RESPONSES[endpoint] ?? { status: 404, body: { message: 'no such path' } };
};

let gateways: GatewayPair;
beforeAll(async () => {
  gateways = await startGatewayPair(script, { corsOrigins: ['https://app.example.com'] });
});
afterAll(() => gateways[Symbol.asyncDispose]());

/** Sends a request to both gateways and expects the same response and upstream calls. @returns the response */
async function expectSame(request: WireRequest, overridden: Record<string, ServiceResponse> = {}) {
  overrides = overridden;
  const { listener, fetch } = await gateways.ask(request);
  expect(listener).toEqual(fetch);
  return listener;
}

const QUERY = 'query Q($id: ID!) { workflow(idOrIdentifier: $id) { id name tags steps { name template { type } } } }';
const requestOf = (query: string, variables?: unknown): WireRequest => ({ body: { query, variables } });

describe('listener and fetch respond identically', () => {
  it.each(loadOperations().map(({ name, query, variables }) => [name, query, variables] as const))(
    '%s',
    async (_, query, variables) => {
      const { status, body } = await expectSame(
        requestOf(query, variables === undefined ? undefined : JSON.parse(variables)),
      );
      expect(status).toBe(200);
      expect(body).toHaveProperty('data');
    },
  );

  it.each([400, 401, 403, 404, 409, 422, 429, 500, 503, 504])('when the service responds with %i', async (status) => {
    const refusal = { status, body: { message: 'no', statusCode: status } };
    await expectSame(requestOf(QUERY, { id: 'w1' }), { 'GET /v1/workflows': refusal });
    const mutation =
      'mutation M($n: String!) { createNotificationGroup(input: { name: $n }) { __typename ... on MutationError { code message } ... on CreateNotificationGroupSuccess { replayed } } }';
    await expectSame(requestOf(mutation, { n: 'x' }), { 'POST /v1/notification-groups': refusal });
  });

  it.each<[string, string, unknown]>([
    ['a missing variable', QUERY, undefined],
    ['a null variable', QUERY, { id: null }],
    ['a variable of another type', QUERY, { id: { a: 1 } }],
    ['an integer for an id', QUERY, { id: 7 }],
    ['an id that is not a valid path segment', QUERY, { id: '..' }],
    ['an undeclared variable', QUERY, { id: 'w1', other: 1 }],
    ['a float for an Int', 'query Q($d: Int) { notificationStats(days: $d) { count } }', { d: 1.5 }],
    ['an Int that is too large', 'query Q($d: Int) { notificationStats(days: $d) { count } }', { d: 2 ** 31 }],
    ['an Int out of range', 'query Q($d: Int) { notificationStats(days: $d) { count } }', { d: 0 }],
    [
      'a null for a variable with a default',
      'query Q($f: Boolean!) { notificationStats(fillGaps: $f) { count } }',
      { f: null },
    ],
    ['a default', 'query Q($d: Int = 30) { notificationStats(days: $d) { count channels date } }', {}],
    [
      'an unknown input field',
      'mutation M($i: CreateFeedInput!) { createFeed(input: $i) { __typename } }',
      { i: { name: 'a', b: 1 } },
    ],
    [
      'an unknown enum value',
      'mutation M($c: Channel) { deleteMessagesByTransaction(input: { transactionId: "t", channel: $c }) { __typename } }',
      { c: 'FAX' },
    ],
    [
      'an enum value',
      'mutation M($c: Channel) { deleteMessagesByTransaction(input: { transactionId: "t", channel: $c }) { __typename } }',
      { c: 'EMAIL' },
    ],
    ['a single id for a list', 'query Q($i: [ID!]!) { workflows(idsOrIdentifiers: $i) { name } }', { i: 'w1' }],
    ['an empty list', 'query Q($i: [ID!]!) { workflows(idsOrIdentifiers: $i) { name } }', { i: [] }],
    ['a null in a list', 'query Q($i: [ID!]!) { workflows(idsOrIdentifiers: $i) { name } }', { i: [null] }],
    [
      '@skip and @include',
      'query Q($a: Boolean!) { workflow(idOrIdentifier: "w1") { name @skip(if: $a) active @include(if: $a) } }',
      { a: true },
    ],
    [
      'aliases',
      '{ a: workflow(idOrIdentifier: "w1") { x: name y: name } b: workflow(idOrIdentifier: "w1") { name } }',
      {},
    ],
    [
      'fragments',
      'query { workflow(idOrIdentifier: "w1") { ...F ... on Workflow { id } } } fragment F on Workflow { name steps { ...S } } fragment S on WorkflowStep { name }',
      {},
    ],
    ['__typename', '{ __typename workflow(idOrIdentifier: "w1") { __typename steps { __typename } } }', {}],
    ['introspection', '{ __schema { queryType { name } } __type(name: "Workflow") { fields { name } } }', {}],
    [
      'groups of workflows',
      '{ workflows(idsOrIdentifiers: ["w1", "w2", "w1"]) { name notificationGroup { name } } }',
      {},
    ],
    [
      'two mutations in series',
      'mutation { a: createFeed(input: { name: "a" }) { __typename } b: createFeed(input: { name: "b" }) { __typename } }',
      {},
    ],
    [
      'an idempotency key',
      'mutation { a: createFeed(input: { name: "a", idempotencyKey: "k" }) { ... on CreateFeedSuccess { feed { name } } } }',
      {},
    ],
    ['an unknown field', '{ nothing }', {}],
    ['a syntax error', '{ workflow(', {}],
    ['a subscription', 'subscription { workflow }', {}],
    ['no operation', 'fragment F on Workflow { name }', {}],
    ['nothing', '', {}],
  ])('for %s', async (_, query, variables) => {
    await expectSame(requestOf(query, variables));
    await expectSame(requestOf(query, variables)); // The second request uses the compiled operation.
  });

  it.each<[string, WireRequest]>([
    [
      'one operation of several',
      { body: { query: 'query A { __typename } query B { notificationGroups { name } }', operationName: 'B' } },
    ],
    ['an unknown operation name', { body: { query: '{ __typename }', operationName: 'X' } }],
    [
      'several operations without an operation name',
      { body: { query: 'query A { __typename } query B { __typename }' } },
    ],
    ['an operation name that is not a string', { body: { query: '{ __typename }', operationName: 1 } }],
    ['variables that are not an object', { body: { query: '{ __typename }', variables: 'x' } }],
    ['variables that are a list', { body: { query: '{ __typename }', variables: [] } }],
    ['extensions', { body: { query: '{ __typename }', extensions: { a: 1 } } }],
    ['extensions that are not an object', { body: { query: '{ __typename }', extensions: 1 } }],
    ['an unknown parameter', { body: { query: '{ __typename }', more: 1 } }],
    ['no query', { body: {} }],
    ['a query that is not a string', { body: { query: 1 } }],
    ['a batch', { body: [{ query: '{ __typename }' }] }],
    ['a body that is not JSON', { body: '{' }],
    ['no body', { body: '' }],
    ['another path', { path: '/other', body: { query: '{ __typename }' } }],
    ['a query in the URL of a POST', { path: '/graphql?query={a}', body: { query: '{ __typename }' } }],
    ['GET', { method: 'GET', path: '/graphql?query={__typename}' }],
    ['another content type', { headers: { 'content-type': 'text/plain' }, body: { query: '{ __typename }' } }],
    ['a content encoding', { headers: { 'content-encoding': 'gzip' }, body: { query: '{ __typename }' } }],
    ['no key', { headers: { authorization: '' }, body: { query: '{ notificationGroups { name } }' } }],
    ['a malformed key', { headers: { authorization: 'Bearer x' }, body: { query: '{ __typename }' } }],
    ['an invalid request id', { headers: { 'x-request-id': 'a b' }, body: { query: '{ nothing }' } }],
    ['an allowed origin', { headers: { origin: 'https://app.example.com' }, body: { query: '{ __typename }' } }],
    ['another origin', { headers: { origin: 'https://evil.example.com' }, body: { query: '{ __typename }' } }],
    [
      'a key in the header Idempotency-Key',
      {
        headers: { 'idempotency-key': 'k' },
        body: { query: 'mutation { createFeed(input: { name: "a" }) { __typename } }' },
      },
    ],
    [
      'an empty Idempotency-Key',
      {
        headers: { 'idempotency-key': '' },
        body: { query: 'mutation { createFeed(input: { name: "a" }) { __typename } }' },
      },
    ],
    ['a body that is too large', { body: { query: `{ __typename } #${'x'.repeat(300_000)}` } }],
    [
      'an id of more than 53 bits',
      {
        body: '{"query":"query Q($id: ID!) { workflow(idOrIdentifier: $id) { name } }","variables":{"id":9007199254740993}}',
      },
    ],
  ])('for %s', async (_, request) => {
    const { listener, fetch } = await gateways.ask(request);
    // An invalid request id is replaced by a generated one.
    const idOf = (answer: unknown) => JSON.stringify(answer).replace(/[\da-f]{8}-[\da-f-]{27}/g, 'an id');
    expect(idOf(listener)).toEqual(idOf(fetch));
  });

  it.each([
    '*/*',
    'application/json',
    'application/graphql-response+json',
    'application/graphql-response+json, application/json;q=0.9',
    'application/json, application/graphql-response+json',
    'text/html, */*;q=0.1',
    'application/*',
    'text/event-stream, application/json',
    'multipart/mixed, application/graphql-response+json',
    'application/json; charset=utf-8',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
    'text/event-stream',
    'image/png',
    ' ',
    ',,',
  ])('for a client that accepts %j', async (accept) => {
    await expectSame({ headers: { accept }, body: { query: '{ notificationGroups { name } }' } });
    await expectSame({ headers: { accept }, body: { query: '{ nothing }' } });
  });

  it('to a body that is not UTF-8, of which nothing is sent', async () => {
    const mutation = 'mutation { createFeed(input: { name: "Übung" }) { __typename } }';
    const { status, body, upstream } = await expectSame({
      body: Buffer.from(JSON.stringify({ query: mutation }), 'latin1'),
    });
    expect([status, upstream]).toEqual([400, []]);
    expect(body).toMatchObject({
      errors: [{ message: 'The request body is not UTF-8.', extensions: { code: 'BAD_REQUEST' } }],
    });
  });
});

it('rejects a body that is too large before reading it', async () => {
  const { status } = await expectSame({ body: { query: `{ __typename } #${'x'.repeat(300_000)}` } });
  expect(status).toBe(413);
});

it('rejects a chunked body that is too large while reading it', async () => {
  const { status } = await expectSame({ body: { query: `{ __typename } #${'x'.repeat(300_000)}` }, isChunked: true });
  expect(status).toBe(413);
});

/** Timeouts that are too long to end a call. */
const PATIENT = {
  operationTimeoutMs: 60_000,
  attemptTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
};

it('the listener aborts the upstream calls of a client that disconnects', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using hanging = await startGatewayPair((_, connection) => {
    void connection.closed.then(closed.resolve);
    resolve();
  }, PATIENT);
  const { hostname, port } = new URL(hanging.listener.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const body = JSON.stringify({ query: '{ notificationGroups { name } }' });
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ApiKey k\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await asked;
  socket.destroy();
  await closed.promise;
}, 40_000); // Less than the time limit of the call.
