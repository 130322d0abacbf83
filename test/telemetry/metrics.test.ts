import { writeFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { pino } from 'pino';
import { register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { processSnapshot } from '../../packages/cli/src/server/process-metrics.ts';
import type { ServerOptions } from '../../packages/cli/src/server/server.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { createCounts, createGatewayMetrics, serviceSamples } from '../../src/telemetry/metrics/gateway-metrics.ts';
import { formatMetrics } from '../../src/telemetry/metrics.ts';
import type { ServiceState } from '../../src/upstream/calls.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { startPausedServer } from '../support/paused-server.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import type { Script } from '../support/service.ts';
import { AUDIENCE, clientsOf, createSigner, ISSUER } from '../support/tokens.ts';

guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/telemetry/metrics/gateway-metrics.ts', 'createResultCounts');
guards('src/http/pipeline/respond.ts', 'createRespond');

const GROUPS = '{ notificationGroups { id } }';
const WORKFLOW = 'query ($id: ID!) { workflow(idOrIdentifier: $id) { id } }';
const CREATE_FEED = 'mutation ($name: String!) { createFeed(input: { name: $name }) { __typename } }';

const empty: Script = () => ({ body: { data: [] } });

/** Starts a gateway in front of a scripted service. */
async function start(
  script: Script = empty,
  options: Partial<GatewayOptions> = {},
  server: Partial<ServerOptions> = {},
) {
  const gateway = await startGateway({ service: script, ...options }, { server });
  /** Returns the metrics of the server, which are also those of the process. */
  const scrape = async () => (await fetch(new URL('/metrics', gateway.url))).text();
  return { ...gateway, scrape };
}

it('requests with a rejected key are counted apart if it is that of a tenant', async () => {
  const signer = createSigner();
  const options = { clients: { ...clientsOf(signer), server: {} } };
  await using notigraph = await start(() => ({ status: 401, body: { statusCode: 401 } }), options);
  await notigraph.send(GROUPS, {}, { authorization: 'ApiKey invented' });
  const { codes } = await notigraph.send(GROUPS, {}, { authorization: await signer.bearer() });
  expect(codes).toEqual(['FORBIDDEN']);
  notigraph.advance(1); // A refused key isn't sent again for a second.
  notigraph.service.script = () => ({ status: 403, body: { statusCode: 403 } });
  await notigraph.send(GROUPS, {}, { authorization: await signer.bearer({ sub: 'user-2' }) });
  const counts = metricValues(await notigraph.scrape(), /^notigraph_upstream_requests_total/);
  const labels = 'method="GET",route="/v1/notification-groups"';
  expect(counts).toEqual({
    [`notigraph_upstream_requests_total{${labels},result="4xx"}`]: 2,
    [`notigraph_upstream_requests_total{${labels},result="tenant_key_rejected"}`]: 1,
  });
});

describe.concurrent('files that are read again', () => {
  const signer = createSigner();
  const query = 'query A { notificationGroups { name } }';

  it.for<[files: string, valid: string, invalid: string, settings: (file: string) => Partial<GatewayOptions>]>([
    ['tenant keys', 'key-1', '', (file) => ({ clients: clientsOf(signer, { tenants: { acme: { file } } }) })],
    ['headers', 'abc', 'a\nb', (file) => ({ upstreamHeaders: { 'x-zone': { file } } })],
    ['manifests', JSON.stringify({ a: query }), '{', (file) => ({ trustedDocuments: { manifests: [file] } })],
    [
      'certificates',
      rootCertificates[0] ?? '',
      'PEM',
      (file) => ({ upstream: 'https://a.test', tls: { ca: { file } } }),
    ],
    [
      'public keys',
      signer.publicKey,
      'PEM',
      (file) => ({
        clients: clientsOf(signer, { issuers: [{ issuer: ISSUER, audience: AUDIENCE, publicKey: { file } }] }),
      }),
    ],
    [
      'client token secrets',
      'a-fake-secret-of-client-tokens-0001',
      'short',
      (file) => ({
        clients: clientsOf(signer),
        clientTokens: { secrets: [{ file }] },
        trustedDocuments: { manifests: [{ a: query }] },
      }),
    ],
  ])('%s: the time since which they are invalid is known while they are', async (row, { expect }) => {
    const [files, valid, invalid, settings] = row;
    await using folder = await createTemporaryFolder();
    const file = folder.path('file.json');
    await writeFile(file, valid);
    const upstream = 'http://127.0.0.1:9';
    await using gateway = await startGateway({ upstream, reloadSeconds: 0.02, ...settings(file) });
    const since = async () => {
      const values = metricValues(await gateway.metrics(), /^notigraph_files_invalid_since_seconds/);
      return values[`notigraph_files_invalid_since_seconds{files="${files}"}`];
    };
    expect(await since()).toBe(0);
    const before = Date.now() / 1_000;
    await writeFile(file, invalid);
    await expect.poll(since, { timeout: 5_000 }).toBeGreaterThanOrEqual(before);
    await writeFile(file, valid);
    await expect.poll(since, { timeout: 5_000 }).toBe(0);
  });
});

describe('the metrics', () => {
  const script: Script = ({ method, path }, { end }) => {
    if (method === 'POST') {
      return end();
    }
    const [, status] = /workflows\/s(\d+)$/.exec(path) ?? [];
    return status === undefined
      ? { body: { data: [] } }
      : { status: Number(status), body: { _id: 'w1', statusCode: Number(status) } };
  };

  it('count operations and upstream requests by result', async () => {
    await using notigraph = await start(script);
    await notigraph.send(GROUPS);
    await notigraph.send(GROUPS);
    for (const id of ['s200', 's302', 's404', 's429', 's500', 's503']) {
      await notigraph.send(WORKFLOW, { id });
    }
    await notigraph.send(WORKFLOW, { id: '..' });
    await notigraph.send(WORKFLOW, {});
    await notigraph.send(CREATE_FEED, { name: 'News' });
    await notigraph.send(CREATE_FEED, { name: 'News' }, { authorization: null });
    await notigraph.send('mutation { __typename }');
    await notigraph.send('{ nope }');
    await notigraph.send('{');
    await notigraph.send('query A { __typename } query B { __typename }');
    await notigraph.send(GROUPS, {}, { authorization: 'Bearer x' });

    const text = await notigraph.scrape();
    expect(metricValues(text, /^notigraph_(operations|upstream_requests)_total|^notigraph_\w+_count/)).toEqual({
      'notigraph_operations_total{type="query",code="OK"}': 4,
      'notigraph_operations_total{type="query",code="UPSTREAM_BAD_RESPONSE"}': 1,
      'notigraph_operations_total{type="query",code="RATE_LIMITED"}': 1,
      'notigraph_operations_total{type="query",code="UPSTREAM_ERROR"}': 1,
      'notigraph_operations_total{type="query",code="UPSTREAM_UNAVAILABLE"}': 1,
      'notigraph_operations_total{type="query",code="BAD_USER_INPUT"}': 1,
      'notigraph_operations_total{type="none",code="BAD_USER_INPUT"}': 1, // A variable, before execution.
      'notigraph_operations_total{type="mutation",code="OK"}': 1,
      'notigraph_operations_total{type="mutation",code="UPSTREAM_UNAVAILABLE"}': 1,
      'notigraph_operations_total{type="none",code="GRAPHQL_VALIDATION_FAILED"}': 1,
      'notigraph_operations_total{type="none",code="GRAPHQL_PARSE_FAILED"}': 1,
      'notigraph_operations_total{type="none",code="OPERATION_RESOLUTION_FAILURE"}': 1,
      'notigraph_operations_total{type="none",code="UNAUTHENTICATED"}': 2,
      'notigraph_operation_duration_seconds_count{type="query"}': 9,
      'notigraph_operation_duration_seconds_count{type="mutation"}': 2,
      'notigraph_operation_duration_seconds_count{type="none"}': 6,
      ...ofRequests('GET', '/v1/notification-groups', { '2xx': 2 }),
      ...ofRequests('GET', '/v1/workflows/{workflowIdOrIdentifier}', {
        '2xx': 1,
        UPSTREAM_BAD_RESPONSE: 1, // The 302.
        '4xx': 4, // The 404, and the 429 three times.
        '5xx': 4, // The 500, and the 503 three times.
      }),
      ...ofRequests('POST', '/v1/feeds', { UPSTREAM_UNAVAILABLE: 1 }),
    });
  });

  const ofRequests = (method: string, route: string, results: Record<string, number>): Record<string, number> => ({
    ...Object.fromEntries(
      Object.entries(results).map(([result, count]) => [
        `notigraph_upstream_requests_total{method="${method}",route="${route}",result="${result}"}`,
        count,
      ]),
    ),
    [`notigraph_upstream_request_duration_seconds_count{method="${method}",route="${route}"}`]: Object.values(
      results,
    ).reduce((sum, count) => sum + count),
  });

  it('measure the duration of operations and upstream requests in seconds', async () => {
    const slow: Script = async () => {
      await new Promise((resolve) => setTimeout(resolve, 120));
      return { body: { data: [] } };
    };
    await using notigraph = await start(slow);
    await notigraph.send(GROUPS);
    const text = await notigraph.scrape();
    for (const name of ['operation', 'upstream_request']) {
      const figures = Object.entries(metricValues(text, new RegExp(`^notigraph_${name}_duration_seconds`)));
      const figure = (part: string) => figures.find(([line]) => line.includes(part))?.[1];
      expect([figure('le="0.1"'), figure('le="5"'), figure('le="+Inf"')]).toEqual([0, 1, 1]);
      expect(figure('_sum')).toBeGreaterThan(0.1);
      expect(figure('_sum')).toBeLessThan(5);
    }
  });

  it('show running requests and waiting upstream calls', async () => {
    await using notigraph = await start(empty, { maxConcurrentCallsPerKey: 1 });
    const held = notigraph.service.hold(undefined, Infinity);
    const present = async () =>
      Object.values(metricValues(await notigraph.scrape(), /^notigraph_(requests_running|upstream_calls_waiting)/));
    expect(await present()).toEqual([0, 0]);
    const answers = ['a', 'b', 'c'].map((id) => notigraph.send(WORKFLOW, { id }));
    await expect.poll(present).toEqual([2, 3]);
    held.release();
    await Promise.all(answers);
    await expect.poll(present).toEqual([0, 0]);
  });

  it('count shed requests by reason, and show the current reason', async () => {
    let reason: 'heap' | undefined;
    const overload = { excess: () => reason && { reason, value: 90, limit: 85 } };
    await using notigraph = await start(empty, {}, { maxInFlightRequests: 1, overload });
    const shed = async () => metricValues(await notigraph.scrape(), /^notigraph_shed/);
    const expected = (shedding: object, counts: object) => {
      const lines = (name: string, values: object) =>
        Object.entries({ running: 0, 'buffered bytes': 0, 'event loop': 0, heap: 0, ...values }).map(([why, value]) => [
          `${name}{reason="${why}"}`,
          value,
        ]);
      return Object.fromEntries([
        ...lines('notigraph_shedding', shedding),
        ...lines('notigraph_shed_requests_total', counts),
      ]);
    };
    expect(await shed()).toEqual(expected({}, {}));
    reason = 'heap';
    await notigraph.send(GROUPS);
    expect(await shed()).toEqual(expected({ heap: 1 }, { heap: 1 }));
    reason = undefined;
    const held = notigraph.service.hold();
    const answer = notigraph.send(GROUPS);
    await held.arrived;
    await notigraph.send(GROUPS);
    await notigraph.send(GROUPS);
    expect(await shed()).toEqual(expected({ running: 1 }, { heap: 1, running: 2 }));
    held.release();
    await answer;
  });

  it('of several processes are aggregated', async () => {
    const load = (running: number) => ({
      running,
      connections: 2 * running,
      bufferedBytes: 1_000,
      shedding: 'heap' as const,
      shed: { running: 0, 'buffered bytes': 0, 'event loop': 0, heap: running },
      closed: { 'too slow': 1, 'request timeout': 0, limit: 0, 'buffered bytes': 0 },
    });
    const samples = (state: Pick<ServiceState, 'circuit' | 'waiting'>) =>
      serviceSamples([[undefined, { ...state, sockets: { open: 3, free: 1, waiting: 2 } }]]);
    const usage = { cpuUsage: process.cpuUsage, memoryUsage: process.memoryUsage, version: 'v24' };
    const processes = [
      [...samples({ circuit: 'probing', waiting: 3 }), ...processSnapshot(load(5), usage)],
      [...samples({ circuit: 'open', waiting: 4 }), ...processSnapshot(load(7), usage)],
    ];
    const text = await formatMetrics(JSON.parse(JSON.stringify(processes))); // Serialized, as if received from another process.
    expect(metricValues(text, /^(notigraph_|nodejs_version)/)).toMatchObject({
      notigraph_upstream_calls_waiting: 7,
      notigraph_upstream_sockets_open: 6,
      notigraph_upstream_sockets_free: 2,
      notigraph_upstream_requests_waiting: 4,
      notigraph_circuit_breaker_state: 2,
      [`notigraph_build_info{version="${manifest.version}"}`]: 1,
      notigraph_connections: 24,
      'notigraph_closed_connections_total{reason="too slow"}': 2,
      'notigraph_shedding{reason="heap"}': 2,
      'notigraph_shed_requests_total{reason="heap"}': 12,
      'nodejs_version_info{version="v24"}': 1,
    });
  });
});

describe('the labels', () => {
  /** Allowed values of each label. */
  const LABELS: Record<string, RegExp> = {
    type: /^(query|mutation|none)$/,
    code: /^[A-Z_]+$/,
    method: /^(GET|POST|PUT|PATCH|DELETE)$/,
    route: /^\/v1\/[a-zA-Z/{}-]+$/,
    result: /^([245]xx|tenant_key_rejected|[A-Z_]+)$/,
    files: /^manifests$/,
    reason: /^(running|buffered bytes|event loop|heap|too slow|request timeout|limit)$/,
    le: /^(\d+(\.\d+)?|\+Inf)$/,
    version: /^(v?\d+\.\d+\.\d+|\(none\)|\(other\))$/,
    client: /^\((none|other)\)$/,
    field: /^createFeed$/,
    kind: /^CONFLICT$/,
  };

  it('contain no values chosen by clients or the service', async () => {
    const canary = 'Canary4711';
    await using notigraph = await start(({ method }) =>
      method === 'GET'
        ? { status: 500, body: { errorId: canary, message: canary } }
        : { status: 409, headers: { 'x-request-id': canary }, body: { message: canary } },
    );
    const key = { authorization: `ApiKey ${canary}` };
    await notigraph.send(
      `query ${canary}($id: ID!) { ${canary}: workflow(idOrIdentifier: $id) { id } }`,
      { id: canary },
      key,
    );
    await notigraph.send(CREATE_FEED, { name: canary }, key);
    await notigraph.send(`{ ${canary} }`, {}, key);
    await notigraph.send(`subscription ${canary} { ${canary} }`, {}, key);
    await notigraph.send(GROUPS, {}, { authorization: `Bearer ${canary}` });
    await fetch(new URL(`/${canary}?${canary}`, notigraph.url), { headers: { 'x-request-id': canary } });
    await fetch(`${notigraph.url}?operationName=${canary}&query={__typename}`, { headers: key });
    await fetch(notigraph.url, { method: 'PROPFIND', headers: { [canary]: canary } });

    const text = await notigraph.scrape();
    expect(text).not.toMatch(/canary/i);
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(Object.keys(metricValues(text, /^notigraph_operations_total/)).length).toBeGreaterThan(4);
    for (const [, name = '', value = ''] of lines.join('\n').matchAll(/[{,](\w+)="([^"]*)"/g)) {
      expect([name, value]).toEqual([name, expect.stringMatching(LABELS[name] ?? /^$/)]);
    }
  });

  it('include only codes of the table', async () => {
    const metrics = createGatewayMetrics();
    for (const code of ['FORBIDDEN', 'HUNTER2', '__proto__', 4711, null]) {
      metrics.operation({ type: 'query', isExecuted: true, code, status: 200, ms: 1 });
    }
    metrics.operation({ type: 'query', isExecuted: true, code: undefined, status: 406, ms: 1 });
    metrics.operation({ type: 'hunter2', isExecuted: true, code: undefined, status: 200, ms: 1 });
    expect(metricValues(await formatMetrics([metrics.snapshot()]), /^notigraph_operations_total/)).toEqual({
      'notigraph_operations_total{type="query",code="FORBIDDEN"}': 1,
      'notigraph_operations_total{type="query",code="OTHER"}': 5,
      'notigraph_operations_total{type="none",code="OK"}': 1,
    });
  });
});

it('failures as data have their own counts for 1,000 fields and kinds, which modules could make up', async () => {
  const counts = createCounts(pino({ level: 'silent' }));
  for (let i = 0; i < 1_010; i += 1) {
    counts.countResult(['createFeed', `KIND_${i}`]);
  }
  const values = metricValues(await formatMetrics([counts.metrics.snapshot()]), /^notigraph_mutation_failures_total/);
  expect(Object.keys(values)).toHaveLength(1_001);
  expect(values['notigraph_mutation_failures_total{field="(other)",kind="(other)"}']).toBe(10);
});

it('a gateway embedded in another server has its own metrics and none of the process', async () => {
  await using one = await start(empty);
  await using other = await start(empty);
  await one.send(GROUPS);
  expect(metricValues(await one.metrics(), /^notigraph_operations_total/)).toEqual({
    'notigraph_operations_total{type="query",code="OK"}': 1,
  });
  expect(metricValues(await other.metrics(), /^notigraph_operations_total/)).toEqual({});
  expect(await one.metrics()).not.toMatch(/^(process|nodejs)_/m);
  expect(register.getMetricsAsArray()).toEqual([]); // The host application may use the global registry.
});

it('the path /metrics, and no other, returns 500 if the metrics are unavailable', async () => {
  await using server = await startPausedServer({
    listener: (_, response) => void response.end('the gateway'),
    metrics: () => Promise.reject(new Error('hunter2')),
  });
  const failed = await fetch(`${server.url}/metrics`);
  expect([failed.status, await failed.text()]).toEqual([500, 'The metrics are unavailable.\n']);
  for (const path of ['/metrics/', '/x/metrics', '/graphql?x=/metrics']) {
    expect(await (await fetch(server.url + path)).text()).toBe('the gateway');
  }
});
