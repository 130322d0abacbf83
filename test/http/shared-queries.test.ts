import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { type ScriptedGateway, startScriptedGateway, type TestRequest } from '../support/gateway.ts';
import { feed, workflow } from '../support/records.ts';
import { type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

/** Reads the statistics, then a workflow: a second request that joins the whole query makes neither call. */
const QUERY = '{ notificationStats(days: 1) { workflows(first: 1) { name } } }';
const STATS = 'GET /v1/notifications/graph/stats?days=1';
const WORKFLOW = 'GET /v1/workflows/w1';
const DATA = { notificationStats: [{ workflows: [{ name: 'Workflow' }] }] };
const MUTATION = 'mutation { createFeed(input: { name: "F" }) { __typename } }';
const CREATE = 'POST /v1/feeds';

const BODIES: Readonly<Record<string, unknown>> = {
  [STATS]: [{ _id: '2026-01-01', count: 1, templates: ['w1'], channels: ['email'] }],
  [WORKFLOW]: workflow(),
  [CREATE]: feed(),
};
const respond: Script = ({ method, path }) => ({ body: { data: BODIES[`${method} ${path}`] } });

const signer = createSigner();
const KEY = { authorization: 'ApiKey a' };

/** Sends a query, and a second one while the first waits for its last call. Returns the responses and the number of executions. */
async function sendBoth(gateway: ScriptedGateway, first: TestRequest, second: TestRequest, query = QUERY) {
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const leading = gateway.send(QUERY, {}, first);
  await held.arrived;
  const following = gateway.send(query, {}, second);
  await expect.poll(gateway.running).toBe(2);
  await gateway.send('{ __typename }', {}, KEY); // The second one was received before.
  held.release();
  const responses = [await leading, await following] as const;
  return { responses, executions: gateway.service.calls().filter((call) => call === STATS).length };
}

it('uses the response of an identical query in flight, and charges and logs both requests', async () => {
  const clients = { server: { rateLimit: { calls: 100, perSeconds: 100 } } };
  await using gateway = await startScriptedGateway(respond, { clients });
  const { responses, executions } = await sendBoth(gateway, KEY, KEY);
  expect(executions).toBe(1);
  const [leading, following] = responses;
  expect(following.body).toEqual({ data: DATA });
  expect(leading.body).toEqual({ data: DATA });
  expect(following.headers.get('x-request-id')).not.toBe(leading.headers.get('x-request-id'));
  expect(leading.headers.get('ratelimit-remaining')).toBe('98');
  expect(gateway.log.filter(({ operation }) => operation === 'anonymous')).toMatchObject([
    { upstreamCalls: 0 }, // The one without calls in between.
    { upstreamCalls: 2, httpStatus: 200 },
    { upstreamCalls: 0, shared: 2, httpStatus: 200, requestId: following.headers.get('x-request-id') },
  ]);
  const { headers } = await gateway.send('{ __typename }', {}, KEY);
  expect(headers.get('ratelimit-remaining')).toBe('96'); // Two for each; what makes no call is free.
});

const onItsOwn: Record<string, TestRequest> = {
  'has a header Cache-Control': { ...KEY, headers: { 'cache-control': 'max-age=60' } },
  'has a long body': { ...KEY, extensions: { padding: 'x'.repeat(17_000) } },
  'has a trace': { ...KEY, headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } },
  'has the secret of a federation router': { ...KEY, headers: { 'router-authorization': 'secret' } },
  'has an idempotency key': { ...KEY, headers: { 'idempotency-key': 'k' } },
  'asks for a report of its calls': { ...KEY, extensions: { upstream: true } },
};

it.each(Object.entries(onItsOwn))('executes a request on its own that %s', async (_, request) => {
  await using gateway = await startScriptedGateway(respond);
  const { responses, executions } = await sendBoth(gateway, request, request);
  expect(executions).toBe(2);
  expect(responses[1].body.data).toEqual(DATA);
});

it.each([
  ['of another API key', { authorization: 'ApiKey b' }, QUERY],
  ['with another text', KEY, `${QUERY} `],
])('executes a request on its own %s', async (_, second, query) => {
  await using gateway = await startScriptedGateway(respond);
  const { responses, executions } = await sendBoth(gateway, KEY, second, query);
  expect(executions).toBe(2);
  expect(responses[1].body.data).toEqual(DATA);
});

/** Starts a gateway without a server. Returns a function that sends the query, and the log so far. */
async function startEmbedded() {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const service = await startService(respond);
  const gateway = createGateway({ upstream: service.url }, { logger });
  const headers = { ...KEY, 'content-type': 'application/json' };
  return {
    service,
    log,
    send(extensions: Record<string, unknown>, signal?: AbortSignal) {
      const init = { method: 'POST', headers, body: JSON.stringify({ query: QUERY, extensions }) };
      return gateway.fetch(new Request('http://localhost/graphql', { ...init, ...(signal && { signal }) }));
    },
    async [Symbol.asyncDispose]() {
      await gateway.dispose();
      await service[Symbol.asyncDispose]();
    },
  };
}

it('logs every explained request as explained', async () => {
  await using embedded = await startEmbedded();
  await Promise.all([embedded.send({ explain: true }), embedded.send({ explain: true })]);
  expect(embedded.log.map(({ explained }) => explained)).toEqual([true, true]);
});

it('ends a request at once whose client has disconnected before it could join', async () => {
  await using embedded = await startEmbedded();
  const held = embedded.service.hold(WORKFLOW);
  const leading = embedded.send({});
  await held.arrived;
  expect(await (await embedded.send({}, AbortSignal.abort())).text()).toContain('CLIENT_CLOSED');
  held.release();
  expect(await (await leading).json()).toEqual({ data: DATA });
});

it('checks the scopes of each token of a user', async () => {
  await using gateway = await startScriptedGateway(respond, { clients: clientsOf(signer) });
  const [all, some] = await Promise.all([signer.bearer(), signer.bearer({ scope: 'stats:read' })]);
  const held = gateway.service.hold(WORKFLOW);
  const leading = gateway.send(QUERY, {}, { authorization: all });
  await held.arrived;
  expect((await gateway.send(QUERY, {}, { authorization: some })).codes).toEqual(['FORBIDDEN']);
  held.release();
  expect((await leading).body).toEqual({ data: DATA });
});

it('executes requests on their own during and after a mutation with the same API key', async () => {
  await using gateway = await startScriptedGateway(respond);
  const { service } = gateway;
  const heldWorkflow = service.hold(WORKFLOW, Infinity);
  const heldCreate = service.hold(CREATE);
  const before = gateway.run(QUERY);
  await heldWorkflow.arrived;
  const mutation = gateway.run(MUTATION);
  await heldCreate.arrived;
  const executions = () => service.calls().filter((call) => call === STATS).length;
  const during = gateway.run(QUERY);
  await expect.poll(executions).toBe(2);
  const duringToo = gateway.run(QUERY);
  await expect.poll(executions).toBe(3);
  heldCreate.release();
  await mutation;
  const after = gateway.run(QUERY);
  await expect.poll(executions).toBe(4);
  heldWorkflow.release();
  expect(await Promise.all([before, during, duringToo, after])).toEqual([DATA, DATA, DATA, DATA]);
});

it('executes each request on its own if the response has errors', async () => {
  await using gateway = await startScriptedGateway((request, connection) =>
    request.path === '/v1/workflows/w1' ? { status: 403 } : respond(request, connection),
  );
  const { responses, executions } = await sendBoth(gateway, KEY, KEY);
  expect(executions).toBe(2);
  expect(responses.map(({ codes }) => codes)).toEqual([['FORBIDDEN'], ['FORBIDDEN']]);
});

it('executes the other requests if the client of the first disconnects', async () => {
  await using gateway = await startScriptedGateway(respond);
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const client = new AbortController();
  const leading = gateway.send(QUERY, {}, { ...KEY, signal: client.signal });
  await held.arrived;
  const following = gateway.send(QUERY, {}, KEY);
  await expect.poll(gateway.running).toBe(2);
  client.abort();
  await expect(leading).rejects.toThrow();
  held.release();
  expect((await following).body).toEqual({ data: DATA });
});

it('ends a request whose client disconnects before the shared response', async () => {
  await using gateway = await startScriptedGateway(respond);
  const held = gateway.service.hold(WORKFLOW, Infinity);
  const leading = gateway.send(QUERY, {}, KEY);
  await held.arrived;
  const client = new AbortController();
  const following = gateway.send(QUERY, {}, { ...KEY, signal: client.signal });
  await expect.poll(gateway.running).toBe(2);
  client.abort();
  await expect(following).rejects.toThrow();
  await expect.poll(gateway.running).toBe(1);
  held.release();
  expect((await leading).body).toEqual({ data: DATA });
  expect(gateway.service.calls()).toEqual([STATS, WORKFLOW]);
});

it.each([
  ['the cache is on', { cache: true }],
  ['the host has plugins', { plugins: [{ onExecute: () => {} }] }],
])('executes each request on its own if %s', async (_, options) => {
  await using gateway = await startScriptedGateway(respond, options);
  const { responses } = await sendBoth(gateway, KEY, KEY);
  expect(responses[1].body.data).toEqual(DATA);
  expect(gateway.log.filter(({ shared }) => shared === 2)).toEqual([]);
});
