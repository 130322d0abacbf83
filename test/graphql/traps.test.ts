import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startGateway, startSandboxedGateway, startScriptedGateway } from '../support/gateway.ts';
import { feed, group, workflow } from '../support/records.ts';
import { HEAD } from '../support/service.ts';

// Each test covers a pitfall of a library or protocol that Notigraph builds on.

it('trap 1: ids that encodeURIComponent leaves unsafe in a path (dot segments, empty) are rejected, and "?" is encoded', async () => {
  await using gateway = await startScriptedGateway(() => ({ body: { data: workflow() } }));
  for (const id of ['..', '.', '', '%2e%2e', '\ud800']) {
    const { body } = await gateway.send(
      'mutation ($id: ID!) { deleteMessagesByTransaction(input: { transactionId: $id }) { ... on MutationError { code } } }',
      { id },
    );
    expect(body.data).toEqual({ deleteMessagesByTransaction: { code: 'INVALID_INPUT' } });
  }
  expect(gateway.service.requests).toHaveLength(0);
  await gateway.send('mutation { updateWorkflowStatus(input: { workflowId: "x?y", active: true }) { __typename } }');
  expect(gateway.service.requests[0]?.path).toBe('/v1/workflows/x%3Fy/status');
});

it('trap 2: an error next to data does not change the HTTP status, whatever the upstream status', async () => {
  await using gateway = await startScriptedGateway(({ path }) =>
    path.endsWith('/bad')
      ? { status: 503, body: { extensions: { http: { status: 503 } }, message: 'x' } }
      : { body: { data: workflow() } },
  );
  for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
    const { status, body } = await gateway.send(
      '{ good: workflow(idOrIdentifier: "w1") { name } bad: workflow(idOrIdentifier: "bad") { name } }',
      {},
      { headers: { accept } },
    );
    expect([status, body.data]).toEqual([200, { good: { name: 'Workflow' }, bad: null }]);
  }
  const { status } = await gateway.send('{ workflow(idOrIdentifier: "bad") { name } }');
  expect(status).toBe(200);
});

describe('trap 3: defaults of Yoga', () => {
  const post = { method: 'POST', headers: { 'content-type': 'application/json', origin: 'https://evil.example' } };

  it('are disabled: reflecting the origin, reading multipart bodies, and answering every URL that ends in /health', async () => {
    await using gateway = await startSandboxedGateway();
    const body = '{"query":"{ __typename }"}';
    const answer = await fetch(`${gateway.url}?x=/health`, { ...post, body });
    expect(await answer.text()).toBe('{"data":{"__typename":"Query"}}');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(answer.headers.get('x-yoga-id')).toBeNull();
    const form = new FormData();
    form.set('operations', body);
    expect((await fetch(gateway.url, { method: 'POST', body: form })).status).toBe(415);
  });

  it('are replaced: invalid JSON reveals no parser details, and invalid variables of a GET are 400', async () => {
    await using gateway = await startSandboxedGateway();
    const answer = await fetch(gateway.url, { ...post, body: '{"secret": nonsense' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toMatch(/originalError|secret|Unexpected token/);
    const headers = { 'graphql-require-preflight': 'true' };
    expect((await fetch(`${gateway.url}?query={__typename}&variables={`, { headers })).status).toBe(400);
  });
});

it('trap 4: a request over a limit is 4xx without data, and does not affect later requests with the same document', async () => {
  await using gateway = await startSandboxedGateway();
  const tooMany = `{ ${'__typename '.repeat(21)} }`;
  for (let i = 0; i < 3; i += 1) {
    const { status, body } = await gateway.send(tooMany);
    expect(status).toBe(400);
    expect(body).not.toHaveProperty('data');
  }
  const document = 'query ($days: Int) { notificationStats(days: $days) { key } }';
  expect((await gateway.send(document, { days: 0 })).codes).toEqual(['BAD_USER_INPUT']);
  expect((await gateway.send(document, { days: 'x' })).status).toBe(400);
  expect((await gateway.send(document, { days: 1 })).codes).toEqual([]);
});

it('trap 5: a 500 for a malformed id is not retried and does not open the circuit breaker', async () => {
  await using gateway = await startScriptedGateway(({ path }) =>
    path.includes('malformed') ? { status: 500, body: { message: 'Cast failed.' } } : { body: { data: workflow() } },
  );
  for (let i = 0; i < 40; i += 1) {
    expect((await gateway.send(`{ workflow(idOrIdentifier: "malformed-${i}") { id } }`)).codes).toEqual([
      'UPSTREAM_ERROR',
    ]);
  }
  expect(gateway.service.requests).toHaveLength(40);
  expect(await gateway.data('{ workflow(idOrIdentifier: "w1") { id } }')).toEqual({ workflow: { id: 'w1' } });
});

it('trap 6: an idempotency key does not make a write retryable, and keys differ between endpoints', async () => {
  await using gateway = await startScriptedGateway(() => ({ status: 503, body: {} }));
  const key = 'caller-key';
  const { codes } = await gateway.send(
    `mutation { createFeed(input: { name: "a", idempotencyKey: "${key}" }) { __typename }
      createNotificationGroup(input: { name: "a", idempotencyKey: "${key}" }) { __typename } }`,
  );
  expect(codes).toEqual(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);
  const keys = gateway.service.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(2);
  expect(new Set([...keys, key]).size).toBe(3);
});

it('trap 7: an error with a code is not masked, even if its cause is not a GraphQLError', async () => {
  await using gateway = await startScriptedGateway(() => ({ status: 403, body: { message: 'Only in development.' } }));
  const { body } = await gateway.send('{ notificationGroups { id } workflows(idsOrIdentifiers: ["w1"]) { id } }');
  for (const error of body.errors ?? []) {
    expect(error).toMatchObject({ message: 'Only in development.', extensions: { code: 'FORBIDDEN' } });
  }
  expect(body.errors).toHaveLength(2);
});

it('trap 8: a body that grows or drips endlessly is aborted', async () => {
  await using gateway = await startScriptedGateway(
    ({ path }, { send }) => {
      if (path === '/v1/notification-groups') {
        return send(`${HEAD}content-length: 100\r\n\r\n[`); // Nothing follows, so only a timeout for the whole body can end the request.
      }
      return { body: ' '.repeat(2_000) };
    },
    { attemptTimeoutMs: 1_000, maxUpstreamBodyBytes: 1_024, maxRetries: 0 },
  );
  expect((await gateway.send('{ notificationGroups { id } }')).codes).toEqual(['UPSTREAM_TIMEOUT']);
  expect((await gateway.send('{ workflow(idOrIdentifier: "w1") { id } }')).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
});

it('trap 9: inexact numbers, excessive depth and __proto__ are rejected, from clients and from the service', async () => {
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  for (const data of ['{"n":1e400}', '{"n":9007199254740993}', '{"__proto__":{"polluted":true}}', deep]) {
    const text = JSON.stringify({ data: { ...workflow(), data: 0 } }).replace('"data":0', `"data":${data}`);
    await using gateway = await startScriptedGateway(() => ({ body: text }));
    const { body, codes } = await gateway.send('{ workflow(idOrIdentifier: "w1") { name data } }');
    expect(body.data).toEqual({ workflow: { name: 'Workflow', data: null } });
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    const input = `{"query":"mutation ($d: JSONObject) { createSubscriber(input: { subscriberId: \\"a\\", data: $d }) { __typename } }","variables":{"d":${data}}}`;
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
    expect((await fetch(gateway.url, { method: 'POST', headers, body: input })).status).toBe(400);
    expect(gateway.service.requests).toHaveLength(1);
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

describe('trap 10: errors of unusual classes', () => {
  it('a DOMException of a timeout becomes an error with a code, never an empty list of errors', async () => {
    await using gateway = await startScriptedGateway(() => {}, { operationTimeoutMs: 50 });
    const { body, codes } = await gateway.send('{ notificationGroups { id } }');
    expect(codes).toEqual(['UPSTREAM_TIMEOUT']);
    expect(body.data).toEqual({ notificationGroups: null });
  });

  it('an AggregateError of a refused localhost counts as a refused connection', async () => {
    const server = createServer().listen(0);
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    const port = typeof address === 'object' ? address?.port : undefined;
    await using gateway = await startGateway({ upstream: `http://localhost:${port}` });
    const { body } = await gateway.send('mutation { createFeed(input: { name: "a" }) { __typename } }');
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
  });
});

it('trap 11: the same executor runs a document the first time and every later time', async () => {
  await using gateway = await startScriptedGateway(({ path }) => ({
    body: { data: path.startsWith('/v1/feeds') ? feed() : group() },
  }));
  const document =
    'mutation { createFeed(input: { name: "a" }) { __typename ... on CreateFeedSuccess { feed { id } } } }';
  const answers = [];
  for (let i = 0; i < 20; i += 1) {
    answers.push(await gateway.data(document));
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});
