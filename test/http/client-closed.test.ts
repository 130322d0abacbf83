import { once } from 'node:events';
import { expect, it } from 'vitest';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { HEAD } from '../support/service.ts';
import { TENANT_KEYS } from '../support/tokens.ts';

guards('src/http/adapters/node-adapter.ts', 'createListener');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.body');

const READ = '{ notificationGroups { name } }';
const READS =
  '{ a: workflow(idOrIdentifier: "a") { id } b: workflow(idOrIdentifier: "b") { id } notificationGroups { id } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

/** Timeouts that are too long to end a call. */
const PATIENT = {
  operationTimeoutMs: 60_000,
  attemptTimeoutMs: 60_000,
};

/** Returns the log lines of the only operation. */
async function linesOf({ log }: GatewayWithService) {
  await expect.poll(() => log.some(({ msg }) => msg === 'operation')).toBe(true);
  return log;
}

/** Returns the results of the calls in the metrics. */
async function resultsOf(gateway: GatewayWithService): Promise<string[]> {
  const counts = metricValues(await gateway.metrics(), /^notigraph_upstream_requests_total/);
  return Object.keys(counts).map((line) => /result="(\w+)"/.exec(line)?.[1] ?? '');
}

it.each([
  ['a query', 'GET /v1/notification-groups', READ, 'query'],
  ['a query of several calls', 'GET /v1/workflows/b', READS, 'query'],
  ['a mutation', 'POST /v1/feeds', CREATE, 'mutation'],
])(
  'a client that disconnects during %s aborts its calls, and is logged and counted as CLIENT_CLOSED without a warning',
  async (_, endpoint, document, type) => {
    await using gateway = await startGateway({
      service: (_request, { send }) => {
        send(`${HEAD}content-length: 100\r\n\r\n{`); // Only the client ends the call.
      },
      ...PATIENT,
    });
    await gateway.accept('a');
    gateway.log.length = 0;
    await gateway.disconnectDuring(endpoint, document);
    await gateway.service.allClosed();
    expect(await linesOf(gateway)).toMatchObject([{ level: 30, code: 'CLIENT_CLOSED', httpStatus: 499, type }]);
    expect(new Set(await resultsOf(gateway))).toEqual(new Set(['2xx', 'CLIENT_CLOSED']));
  },
);

it('a client that disconnects while its call waits for a retry is logged as CLIENT_CLOSED', async () => {
  const client = new AbortController();
  const random = () => {
    client.abort();
    return 100; // 10 s.
  };
  const options = { operationTimeoutMs: 120_000 };
  await using gateway = await startGateway({ service: () => ({ status: 503, body: {} }), ...options }, { random });
  await expect(gateway.send(READ, {}, { signal: client.signal })).rejects.toThrow();
  expect(await linesOf(gateway)).toMatchObject([{ level: 30, code: 'CLIENT_CLOSED', httpStatus: 499 }]);
});

it('a client that disconnects while its session is looked up is logged as CLIENT_CLOSED', async () => {
  const client = new AbortController();
  await using gateway = await startGateway({
    service: 'healthy',
    clients: { browser: { scopes: ['groups:read'], tenants: TENANT_KEYS } },
    authenticate: async (request) => {
      client.abort();
      await ('socket' in request && once(request.socket, 'close'));
      return { tenant: 'acme', subject: 'ada', scopes: ['groups:read'] };
    },
  });
  await expect(gateway.send(READ, {}, { authorization: null, signal: client.signal })).rejects.toThrow();
  expect(await linesOf(gateway)).toMatchObject([{ level: 30, code: 'CLIENT_CLOSED', httpStatus: 499 }]);
  expect(gateway.upstream()).toEqual([]);
});

it('an operation that times out is not confused with a client that disconnects', async () => {
  await using gateway = await startGateway({ service: () => {}, ...PATIENT, operationTimeoutMs: 100 });
  const { status, codes } = await gateway.send(READ);
  expect([status, codes]).toEqual([200, ['UPSTREAM_TIMEOUT']]);
  expect(await linesOf(gateway)).toMatchObject([
    { level: 40, code: 'UPSTREAM_TIMEOUT' },
    { level: 30, code: 'UPSTREAM_TIMEOUT', httpStatus: 200 },
  ]);
  expect(await resultsOf(gateway)).toEqual(['UPSTREAM_TIMEOUT']);
});
