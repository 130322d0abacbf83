import { createServer } from 'node:http';
import { context, createContextKey, INVALID_SPAN_CONTEXT, type SpanContext, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';
import { type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { type RecordedSpan, registerTestTraces, type TestTraces } from '../support/traces.ts';

guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/telemetry/traces/tracing.ts', 'createTracing.start.origin');
guards('src/telemetry/traces/tracing.ts', 'readTraceContext');
guards('src/telemetry/traces/tracing.ts', 'readTraceState');
guards('src/http/pipeline/respond.ts', 'createRespond');

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;
const GROUPS = '{ notificationGroups { id } }';
const signer = createSigner();
const ok: Script = () => ({ body: { data: [] } });

let script: Script = ok;
let activeTraceId: string | undefined;
let traces: TestTraces;

/** Plugin of a host that reads the active span. */
const readsActiveSpan = {
  onExecute() {
    activeTraceId = trace.getActiveSpan()?.spanContext().traceId;
  },
};

const upstream = ofFile(await startService((...request) => script(...request)));
const gateway = ofFile(
  await startGateway(
    {
      upstream: `${upstream.url}/prefix`,
      clients: clientsOf(signer),
      plugins: [readsActiveSpan],
      maxConcurrentCallsPerKey: 1,
      operationTimeoutMs: 120_000, // No call may time out on a busy machine.
      attemptTimeoutMs: 120_000,
    },
    { random: () => 1, breakerMinimumCalls: 1_000 },
  ),
);

afterEach(() => {
  script = ok;
});

/** Returns the value of a header in the last upstream request. */
const sent = (name: string) => upstream.requests.at(-1)?.headers[name];

const lastLine = () => gateway.log.findLast(({ msg }) => msg === 'operation');

const idOf = ({ traceId, spanId }: RecordedSpan) => `${traceId} ${spanId}`;

/** Returns spans by kind. Every operation has one server span, which is the parent of its client spans. */
function byKind(spans: readonly RecordedSpan[]) {
  const servers = spans.filter(({ kind }) => kind === 'SERVER');
  const clients = spans.filter(({ kind }) => kind === 'CLIENT');
  expect(servers.length + clients.length).toBe(spans.length);
  return { servers, clients };
}

/** Returns the spans of a single operation. */
function spansOfOperation() {
  const { servers, clients } = byKind(traces.take());
  const [server] = servers;
  if (server === undefined || servers.length > 1) {
    throw new Error(`an operation has ${servers.length} server spans`);
  }
  expect(clients.map(({ traceId, parentId }) => ({ traceId, parentId }))).toEqual(
    clients.map(() => ({ traceId: server.traceId, parentId: server.spanId })),
  );
  return { server, clients };
}

describe('with an SDK', () => {
  beforeAll(() => {
    traces = registerTestTraces();
    return () => traces[Symbol.dispose]();
  });

  it('an operation is a server span, and each request sent for it a client span whose context goes upstream', async () => {
    const headers = { traceparent: TRACEPARENT, tracestate: 'congo=t61,rojo=1', 'x-request-id': 'request-1' };
    await gateway.data(`query Groups ${GROUPS}`, {}, { headers });
    const { server, clients } = spansOfOperation();
    expect(server).toMatchObject({ name: 'query', traceId: TRACE_ID, parentId: SPAN_ID, status: 'UNSET', links: [] });
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'url.path': '/graphql',
      'url.scheme': 'http',
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'Groups',
      'http.response.status_code': 200,
      'notigraph.client_kind': 'server',
      'notigraph.request_id': 'request-1',
      'notigraph.upstream_calls': 1,
    });
    expect(clients).toMatchObject([{ name: 'GET /v1/notification-groups', status: 'UNSET', events: [], links: [] }]);
    expect(clients[0]?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.template': '/v1/notification-groups',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'http.response.status_code': 200,
    });
    expect(sent('traceparent')).toBe(`00-${TRACE_ID}-${clients[0]?.spanId}-01`);
    expect(sent('tracestate')).toBe('congo=t61,rojo=1');
    expect(lastLine()).toMatchObject({ requestId: 'request-1', trace_id: TRACE_ID, span_id: server.spanId });
    expect(activeTraceId).toBe(TRACE_ID);
  });

  it.each([
    ['https', 'https'],
    ['https,http', 'https'],
    ['HTTPS , http', 'https'],
    ['http, https', 'http'],
    ['httpsx', 'http'],
    ['', 'http'],
  ])('a span has the scheme of the first proxy: X-Forwarded-Proto: %s', async (proto, scheme) => {
    await gateway.data(GROUPS, {}, { headers: { 'x-forwarded-proto': proto } });
    expect(spansOfOperation().server.attributes['url.scheme']).toBe(scheme);
  });

  it.each([
    ['a browser', () => signer.bearer(), 'browser'],
    ['an anonymous client', async () => null, 'anonymous'],
    ['a client with an invalid token', async () => 'Bearer x', undefined],
  ])('%s starts a new trace that is linked to its own', async (_, authorization, clientKind) => {
    const headers = { traceparent: TRACEPARENT, tracestate: 'congo=t61' };
    await gateway.send(GROUPS, {}, { authorization: await authorization(), headers });
    const { server, clients } = spansOfOperation();
    expect(server).toMatchObject({ parentId: undefined, links: [`${TRACE_ID} ${SPAN_ID}`] });
    expect(server.traceId).not.toBe(TRACE_ID);
    expect(server.attributes['notigraph.client_kind']).toBe(clientKind);
    expect(lastLine()).toMatchObject({ trace_id: server.traceId, span_id: server.spanId });
    expect(clients).toHaveLength(clientKind === 'browser' ? 1 : 0);
    if (clientKind === 'browser') {
      expect(sent('traceparent')).toBe(`00-${server.traceId}-${clients[0]?.spanId}-01`);
      expect(sent('tracestate')).toBeUndefined();
    }
  });

  it('invalid trace contexts are ignored', async () => {
    const invalid = [
      'x',
      `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
      `${TRACEPARENT}-00`,
      `cc-${TRACE_ID}-${SPAN_ID}-01x`,
      `${TRACEPARENT}, ${TRACEPARENT}`, // As Node.js joins a repeated header.
    ];
    for (const traceparent of invalid) {
      await gateway.data('{ __typename }', {}, { headers: { traceparent } });
      expect(spansOfOperation().server, traceparent).toMatchObject({ parentId: undefined, links: [] });
    }
  });

  it('later versions of traceparent, and valid members of tracestate, are accepted', async () => {
    for (const traceparent of [
      TRACEPARENT,
      `cc-${TRACE_ID}-${SPAN_ID}-01`,
      `01-${TRACE_ID}-${SPAN_ID}-03-what-comes`,
    ]) {
      await gateway.data('{ __typename }', {}, { headers: { traceparent } });
      expect(spansOfOperation().server, traceparent).toMatchObject({ traceId: TRACE_ID, parentId: SPAN_ID });
    }
    const members = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join(',');
    const states: [tracestate: string, upstream: string | undefined][] = [
      ['congo=t61 , ,1ax@rojo=1', 'congo=t61,1ax@rojo=1'],
      [members(32), members(32)],
      [members(33), undefined],
      [`a=${'v'.repeat(511)}`, undefined],
      ['congo=1,congo=2', undefined],
      ['congo=1,Rojo=2', undefined],
      ['congo=1=2', undefined],
    ];
    for (const [tracestate, expected] of states) {
      await gateway.data(GROUPS, {}, { headers: { traceparent: TRACEPARENT, tracestate } });
      expect(spansOfOperation().server.parentId).toBe(SPAN_ID);
      expect(sent('tracestate'), tracestate).toBe(expected);
    }
  });

  it('each retry has its own span, and sends its own context', async () => {
    const first = upstream.requests.length;
    script = () => (upstream.requests.length - first < 3 ? { status: 503, body: {} } : { body: { data: [] } });
    await gateway.data(GROUPS);
    const { server, clients } = spansOfOperation();
    expect(clients.map(({ status, attributes }) => [status, pickResult(attributes)])).toEqual([
      ['ERROR', { status: 503, error: '503', resends: undefined }],
      ['ERROR', { status: 503, error: '503', resends: 1 }],
      ['UNSET', { status: 200, error: undefined, resends: 2 }],
    ]);
    expect(upstream.requests.slice(first).map(({ headers }) => headers.traceparent)).toEqual(
      clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
    const delay = { 'http.request.method': 'GET', 'url.template': '/v1/notification-groups' };
    expect(server.events).toEqual([
      ['notigraph.retry_delayed', { ...delay, 'notigraph.wait_ms': 100 }],
      ['notigraph.retry_delayed', { ...delay, 'notigraph.wait_ms': 200 }],
    ]);
    expect(server.attributes['notigraph.upstream_calls']).toBe(3);
  });

  it('waiting for other calls, a full queue and a throttled key are events', async () => {
    const pending: (() => void)[] = [];
    script = () => new Promise((resolve) => pending.push(() => resolve({ body: { data: [] } })));
    const ids = Array.from({ length: 102 }, (_, i) => i); // One is sent, and 100 wait.
    const responses = ids.map((id) => gateway.send(`{ workflow(idOrIdentifier: "${id}") { id } }`));
    const full = await Promise.race(responses);
    expect(full.codes).toEqual(['OVERLOADED']);
    await expect.poll(() => pending.length).toBe(1);
    script = () => ({ body: { data: [] } });
    pending[0]?.();
    await Promise.all(responses);
    const headers = { 'ratelimit-limit': '5', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' };
    script = () => ({ headers, body: { data: [] } });
    await gateway.data(GROUPS);
    expect((await gateway.send(GROUPS)).codes).toEqual(['RATE_LIMITED']);

    const endpoint = { 'http.request.method': 'GET', 'url.template': '/v1/workflows/{workflowIdOrIdentifier}' };
    const { servers, clients } = byKind(traces.take());
    const waits = [
      ['notigraph.queued', endpoint],
      ['notigraph.dequeued', { ...endpoint, 'notigraph.wait_ms': expect.any(Number) }],
    ];
    const events = servers.map((server) => server.events);
    expect(events.filter(({ length }) => length === 2)).toEqual(new Array(100).fill(waits));
    expect(events.filter(({ length }) => length === 1).flat()).toEqual([
      ['notigraph.queue_full', endpoint],
      ['notigraph.throttled', { ...endpoint, 'url.template': '/v1/notification-groups' }],
    ]);
    expect(clients).toHaveLength(102);
    expect(servers.at(-1)).toMatchObject({ status: 'ERROR', attributes: { 'error.type': 'RATE_LIMITED' } });
  });

  it('an operation that shares the response of another one is linked to the request that got it', async () => {
    const authorization = 'ApiKey of-readers';
    let answer: (() => void) | undefined;
    script = () =>
      new Promise((resolve) => {
        answer = () => resolve({ status: 404, body: { statusCode: 404 } });
      });
    const read = () => gateway.data('{ workflow(idOrIdentifier: "shared") { id } }', {}, { authorization });
    const responses = [read(), read()];
    await expect.poll(() => [answer !== undefined, gateway.running()]).toEqual([true, 2]);
    answer?.();
    await Promise.all(responses);
    const { servers, clients } = byKind(traces.take());
    expect(clients).toHaveLength(1);
    expect(clients[0]).toMatchObject({ status: 'ERROR', attributes: { 'error.type': '404' } });
    const request = clients.map(idOf);
    expect(servers.map(({ spanId, links }) => [spanId === clients[0]?.parentId, links])).toEqual([
      [true, []],
      [false, request],
    ]);
  });

  it('spans contain neither keys, ids, variables nor bodies', async () => {
    const authorization = 'ApiKey canary-key';
    script = () => ({ status: 409, body: { message: 'canary-answer' } });
    await gateway.send(
      'mutation Create($input: CreateNotificationGroupInput!) { createNotificationGroup(input: $input) { __typename } }',
      { input: { name: 'canary-name', idempotencyKey: 'canary-idempotency' } },
      { authorization },
    );
    await gateway.send('{ workflow(idOrIdentifier: "canary-id") { id } }', {}, { authorization });
    await gateway.send('query canary { canary(secret: "canary-literal") }', {}, { authorization });
    const spans = traces.raw().map(({ name, attributes, events, links, status }) => ({
      ...{ name, attributes, events, links, status },
    }));
    expect(spans).toHaveLength(5);
    expect(JSON.stringify(spans)).toContain('/v1/workflows/{workflowIdOrIdentifier}');
    expect(JSON.stringify(spans)).not.toContain('canary');
    traces.take();
  });

  it('rejected requests are spans, and only failures of the gateway or the service have the status of an error', async () => {
    await gateway.send('{ nope }');
    await gateway.send(GROUPS, {}, { authorization: 'Bearer x' });
    script = () => ({ status: 500, body: {} });
    await gateway.send(GROUPS, {}, { authorization: 'ApiKey of-failure' });
    expect(
      byKind(traces.take()).servers.map(({ name, status, attributes }) => [name, status, attributes['error.type']]),
    ).toEqual([
      ['GraphQL Operation', 'UNSET', 'GRAPHQL_VALIDATION_FAILED'],
      ['GraphQL Operation', 'UNSET', 'UNAUTHENTICATED'],
      ['query', 'ERROR', 'UPSTREAM_ERROR'],
    ]);
    const warning = gateway.log.findLast(({ level }) => level === 40);
    expect(warning).toMatchObject({
      code: 'UPSTREAM_ERROR',
      trace_id: lastLine()?.trace_id,
      span_id: lastLine()?.span_id,
    });
  });
});

describe('in a host whose requests are spans', () => {
  const BAGGAGE = createContextKey('baggage of the host');
  let seen: unknown[] = [];

  /** Starts a host that handles each request with a span of its own as the active one, as OpenTelemetry's instrumentations do. */
  async function startHost(toActive = (span: SpanContext) => span) {
    const readsContext = {
      onExecute() {
        seen = [trace.getActiveSpan()?.spanContext().traceId, context.active().getValue(BAGGAGE)];
      },
    };
    const embedded = createGateway({ upstream: upstream.url, clients: clientsOf(signer), plugins: [readsContext] });
    const tracer = trace.getTracer('host');
    const server = await listen(
      createServer((request, response) => {
        const span = tracer.startSpan('GET /graphql');
        const active = trace.setSpanContext(context.active(), toActive(span.spanContext()));
        context.with(active.setValue(BAGGAGE, 'tenant=a'), () => embedded.listener(request, response));
        response.once('finish', () => span.end());
      }),
    );
    onTestFinished(async () => {
      await server.close();
      await embedded.dispose();
    });
    return async (authorization: string, headers: Record<string, string> = {}) => {
      await fetch(server.url + embedded.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization, ...headers },
        body: JSON.stringify({ query: GROUPS }),
      });
      const spans = traces.take();
      const [host, operation, request] = ['INTERNAL', 'SERVER', 'CLIENT'].map((kind) =>
        spans.find((span) => span.kind === kind),
      );
      return { host, operation, request };
    };
  }

  beforeAll(() => {
    traces = registerTestTraces();
    return () => traces[Symbol.dispose]();
  });

  it('the operation of a server is a child of the span that is active, whatever the request says', async () => {
    const send = await startHost();
    for (const headers of [{}, { traceparent: TRACEPARENT, tracestate: 'congo=t61' }]) {
      const { host, operation, request } = await send('ApiKey of-host', headers);
      expect(operation).toMatchObject({ traceId: host?.traceId, parentId: host?.spanId, links: [] });
      expect(request).toMatchObject({ traceId: host?.traceId, parentId: operation?.spanId });
      expect([sent('traceparent'), sent('tracestate')]).toEqual([
        `00-${host?.traceId}-${request?.spanId}-01`,
        undefined,
      ]);
      expect(seen).toEqual([host?.traceId, 'tenant=a']);
    }
  });

  it('that of a browser starts a new trace, and is only linked to it', async () => {
    const send = await startHost();
    const { host, operation, request } = await send(await signer.bearer(), { traceparent: TRACEPARENT });
    expect(operation).toMatchObject({ parentId: undefined, links: [`${host?.traceId} ${host?.spanId}`] });
    expect(operation?.traceId).not.toBe(host?.traceId);
    expect(request?.traceId).toBe(operation?.traceId);
    expect(seen).toEqual([operation?.traceId, 'tenant=a']);
  });

  it('a span that is not sampled hides the operation from the record, and one that is not valid leaves it as without', async () => {
    const unsampled = await startHost((span) => ({ ...span, traceFlags: 0 }));
    const { host, operation } = await unsampled('ApiKey of-host');
    expect(operation).toBeUndefined();
    expect(sent('traceparent')).toMatch(new RegExp(`^00-${host?.traceId}-[\\da-f]{16}-00$`));
    const invalid = await startHost(() => INVALID_SPAN_CONTEXT);
    expect((await invalid('ApiKey of-host', { traceparent: TRACEPARENT })).operation).toMatchObject({
      traceId: TRACE_ID,
      parentId: SPAN_ID,
    });
    expect((await invalid('ApiKey of-host')).operation).toMatchObject({ parentId: undefined, links: [] });
  });
});

const pickResult = (attributes: Record<string, unknown>) => ({
  status: attributes['http.response.status_code'],
  error: attributes['error.type'],
  resends: attributes['http.request.resend_count'],
});

it('a trace that is not sampled records nothing, but goes upstream with its decision', async () => {
  using unsampled = registerTestTraces(new AlwaysOffSampler());
  await gateway.data(GROUPS, {}, { authorization: 'ApiKey of-unsampled' });
  expect(unsampled.take()).toEqual([]);
  expect(sent('traceparent')).toMatch(new RegExp(`^00-${lastLine()?.trace_id}-[\\da-f]{16}-00$`));
});

it('without an SDK, the trace context of a server goes upstream unchanged, and that of a browser does not', async () => {
  const headers = { traceparent: TRACEPARENT, tracestate: 'congo=t61' };
  await gateway.data(GROUPS, {}, { authorization: 'ApiKey of-server', headers });
  expect([sent('traceparent'), sent('tracestate')]).toEqual([TRACEPARENT, 'congo=t61']);
  expect(lastLine()).toMatchObject({ trace_id: TRACE_ID, span_id: SPAN_ID });

  await gateway.data(GROUPS, {}, { authorization: await signer.bearer(), headers });
  expect([sent('traceparent'), sent('tracestate')]).toEqual([undefined, undefined]);
  await gateway.data(GROUPS, {}, { authorization: 'ApiKey of-server' });
  expect(sent('traceparent')).toBeUndefined();
  expect(lastLine()).not.toHaveProperty('trace_id');
});

it('without an SDK, what a host has as active is no trace', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => context.disable());
  await using embedded = createGateway({ upstream: upstream.url });
  const spanContext = { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1 };
  const send = (headers: Record<string, string>) =>
    context.with(trace.setSpanContext(context.active(), spanContext), () =>
      embedded.fetch(embedded.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'ApiKey of-server', ...headers },
        body: JSON.stringify({ query: GROUPS }),
      }),
    );
  await send({});
  expect(sent('traceparent')).toBeUndefined();
  const traceparent = TRACEPARENT.replace(SPAN_ID, 'b7ad6b7169203331');
  await send({ traceparent });
  expect(sent('traceparent')).toBe(traceparent);
});

it('an SDK that the API ignores because of its version is reported at startup', async () => {
  const registry = Symbol.for('opentelemetry.js.api.1');
  const warningsOf = async () => {
    await using started = await startGateway({ upstream: upstream.url });
    return started.log.filter(({ level }) => level === 40);
  };
  expect(await warningsOf()).toEqual([]);
  Reflect.set(globalThis, registry, { version: '1.0.0', trace: {} });
  try {
    expect(await warningsOf()).toMatchObject([{ apiVersion: '1.0.0', msg: expect.stringContaining('SDK is ignored') }]);
  } finally {
    Reflect.deleteProperty(globalThis, registry);
  }
  using _ = registerTestTraces();
  expect(await warningsOf()).toEqual([]);
});

it('an SDK that throws fails no request, and is logged once', async () => {
  const fail = () => {
    throw new Error('broken SDK');
  };
  const spanContext = () => ({ traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1 });
  const span = new Proxy(
    { spanContext, isRecording: () => true },
    { get: (known, name) => Reflect.get(known, name) ?? fail },
  );
  for (const startSpan of [fail, () => span]) {
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: fail }) } as never);
    await gateway.data(GROUPS, {}, { authorization: 'ApiKey of-broken' });
    trace.disable();
  }
  const lines = gateway.log.filter(({ msg }) => /SDK failed/.test(String(msg)));
  expect(lines).toMatchObject([{ level: 50, err: { message: 'broken SDK' } }]);
});
