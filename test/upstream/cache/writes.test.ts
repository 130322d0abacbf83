import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createGateway, createGatewayState, type Gateway } from '../../../src/gateway.ts';
import { fetchFrom, READ_WORKFLOW, respondTo, startCachedGateway } from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';
import { startService } from '../../support/service.ts';

guards('src/upstream/cache/memory-store.ts', 'MemoryStore.#replaceVersions');

const GET = 'GET /v1/workflows/welcome';
const PUT = 'PUT /v1/workflows/w1/status';
const WRITE = 'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { __typename } }';
const SUCCESS = { updateWorkflowStatus: { __typename: 'UpdateWorkflowStatusSuccess' } };

const nameOf = (version: number) => ({ workflow: { name: `v${version}` } });

/** Returns a script that responds to writes with a status, and to reads as usual. */
const refuseWrites =
  (status: number) =>
  ({ method, path }: { method: string; path: string }) =>
    method === 'GET' ? respondTo(method, path, 'v9') : { status, body: { message: 'No.' } };

describe('a write that fails', () => {
  it.each([500, 504])(
    'with %i may have been applied: nothing from before, or from the next 30 seconds, is used',
    async (status) => {
      await using cached = await startCachedGateway();
      await cached.run(READ_WORKFLOW);
      cached.service.script = refuseWrites(status);
      await cached.run(WRITE);
      await cached.run(READ_WORKFLOW);
      cached.change(); // The service applies it only now.
      expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
      cached.advance(25);
      cached.change();
      expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(2));
      cached.advance(5.001);
      cached.change();
      expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(3));
      cached.service.forget();
      await cached.run(READ_WORKFLOW);
      expect(cached.service.calls()).toEqual([]);
    },
  );

  it.each([404, 429])('with %i empties the same reads as a successful one', async (status) => {
    await using cached = await startCachedGateway({ maxRetries: 0 });
    await cached.run(READ_WORKFLOW);
    cached.service.script = refuseWrites(status);
    await cached.run(WRITE);
    cached.service.forget();
    expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(9));
    await cached.run(READ_WORKFLOW);
    expect(cached.service.calls()).toEqual([GET]); // Its outcome is known, so that the next response is stored.
  });

  it('because its client disconnected may have been applied', async () => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW);
    const release = await cached.disconnectDuring(PUT, WRITE);
    await expect.poll(() => cached.running()).toBe(0);
    release();
    cached.change();
    expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
  });
});

const REDIS_DOWN = {
  store: { redis: { url: 'redis://127.0.0.1:9' } },
  secret: 'a-fake-secret-of-more-than-32-characters',
};

it.each([
  ['with the same store', true],
  ['with the same store in Redis, while Redis is unavailable', REDIS_DOWN],
] as const)('a read joins none that started before a write of another gateway %s', async (_, cache) => {
  const logger = pino({ level: 'silent' });
  const state = createGatewayState(logger);
  let version = 0;
  const held: (() => void)[] = [];
  await using upstream = await startService(async ({ method, path }) => {
    const response = respondTo(method, path, `v${version}`);
    if (path.startsWith('/v1/workflows') && method === 'GET' && version === 0) {
      await new Promise<void>((release) => held.push(release));
    }
    return response;
  });
  await using reader = createGateway({ upstream: upstream.url, cache }, { logger }, state);
  await using writer = createGateway({ upstream: upstream.url, cache }, { logger }, state);
  await reader.connected();
  await fetchFrom(reader, '{ notificationGroups { name } }'); // The service accepts the key, so that two calls can be in flight.
  const run = async (gateway: Gateway, query: string) => (await fetchFrom(gateway, query)).data;
  const early = run(reader, READ_WORKFLOW);
  await expect.poll(() => held.length).toBe(1);
  version = 1;
  await run(writer, WRITE);
  expect(await run(reader, READ_WORKFLOW)).toEqual(nameOf(1));
  held[0]?.();
  expect(await early).toEqual(nameOf(0));
});

it('a write through another upstream with the same service counts', async () => {
  let version = 0;
  await using upstream = await startService(({ method, path }) =>
    respondTo(method, path.slice('/prefix'.length), `v${version}`),
  );
  await using gateway = createGateway({
    cache: true,
    upstreams: {
      cached: { url: `${upstream.url}/prefix`, pathPrefix: '/cached' },
      same: { url: `${upstream.url}/prefix/`, pathPrefix: '/same' },
    },
  });
  const run = async (path: string, query: string) => (await fetchFrom(gateway, query, { path })).data;
  expect(await run('/cached', READ_WORKFLOW)).toEqual(nameOf(0));
  version = 1;
  expect(await run('/cached', READ_WORKFLOW)).toEqual(nameOf(0));
  expect(await run('/same', WRITE)).toEqual(SUCCESS);
  expect(await run('/cached', READ_WORKFLOW)).toEqual(nameOf(1));
});

const READS = {
  'GET /v1/workflows/W1': '{ workflow(idOrIdentifier: "W1") { name } }',
  'GET /v1/workflows/welcome': READ_WORKFLOW,
  'GET /v1/notification-groups': '{ notificationGroups { name } }',
  'GET /v1/notification-groups/g1': '{ notificationGroup(id: "g1") { name } }',
  'GET /v1/notification-groups/g2': '{ notificationGroup(id: "g2") { name } }',
  'GET /v1/notifications/graph/stats': '{ notificationStats { count } }',
  'GET /v1/notifications/graph/stats?days=7': '{ notificationStats(days: 7) { count } }',
} as const;

const ALL = Object.keys(READS);
const WORKFLOWS = ALL.slice(0, 5);
const STATISTICS = ALL.slice(5);

/** Writes, and the reads that each one empties. */
const WRITES: readonly [mutation: string, changes: readonly string[]][] = [
  ['createNotificationGroup(input: { name: "New" })', WORKFLOWS],
  ['updateNotificationGroup(input: { id: "G1", name: "New" })', WORKFLOWS],
  ['deleteNotificationGroup(input: { id: "G1" })', WORKFLOWS],
  ['updateWorkflowStatus(input: { workflowId: "w1", active: true })', WORKFLOWS],
  ['deleteMessagesByTransaction(input: { transactionId: "t1" })', STATISTICS],
  ['createSubscriber(input: { subscriberId: "s1" })', []],
  ['createFeed(input: { name: "News" })', []],
  ['deleteFeed(input: { id: "f1" })', []],
];

it('reads are cached, and each write empties exactly the kinds that its line says', async () => {
  await using cached = await startCachedGateway();
  const readAll = async () => {
    cached.service.forget();
    for (const document of Object.values(READS)) {
      await cached.run(document);
    }
    return cached.service.calls();
  };
  expect(await readAll()).toEqual(ALL);
  expect(await readAll()).toEqual([]);
  for (const [mutation, changes] of WRITES) {
    const result = await cached.run(`mutation { result: ${mutation} { __typename } }`);
    expect(result, mutation).toEqual({ result: { __typename: expect.stringContaining('Success') } });
    expect(await readAll(), mutation).toEqual(changes);
  }
});
