import { expect, it } from 'vitest';
import { READ_WORKFLOW, startCachedGateway } from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';
import { sampleOf, sampleSize } from '../../support/samples.ts';
import { STORES, startTestCache } from '../../support/test-cache.ts';

guards('src/upstream/calls/cached-service.ts', 'CachedService.#confirmation.confirm');
guards('src/upstream/calls/cached-service.ts', 'CachedService.#refreshOrUse');
guards('src/upstream/upstreams.ts', 'Upstreams.close');

const GET = 'GET /v1/workflows/welcome';

const nameOf = (version: number) => ({ workflow: { name: `v${version}` } });

/** Ages of a response, in seconds: only for outages, to revalidate, and no longer stored. */
const AGES = [100, 40, 700];
const CASES = STORES.flatMap((kind) => AGES.map((age) => [kind, age] as const));

it.each(sampleOf(CASES, CASES.length))(
  'with a cache in %s, many requests at once for a response of %i seconds cause one call',
  async (kind, age) => {
    const size = sampleSize(100, 1_000);
    await using cache = await startTestCache(kind);
    await using cached = await startCachedGateway(
      { cache: cache.settings, maxInFlightRequests: 4 * size },
      { ...cache.deps, server: { maxInFlightRequests: 4 * size } },
    );
    const isStored = async () => {
      cached.service.forget();
      await cached.run(READ_WORKFLOW);
      return cached.service.calls().length === 0;
    };
    await expect.poll(isStored).toBe(true);
    await cache.pass(age);
    cached.change();
    const results = await Promise.all(Array.from({ length: size }, () => cached.run(READ_WORKFLOW)));
    await expect.poll(() => cached.service.calls()).toEqual([GET]);
    const others = new Set(results.map((result) => JSON.stringify(result)));
    others.delete(JSON.stringify(nameOf(1)));
    expect([...others]).toEqual(age === 40 ? [JSON.stringify(nameOf(0))] : []);
  },
);

it('concurrent requests within the window of revalidation cause one call, and none waits for it', async () => {
  await using cached = await startCachedGateway();
  await cached.run(READ_WORKFLOW);
  cached.advance(31);
  const held = cached.service.hold(GET);
  for (let i = 0; i < 20; i += 1) {
    expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  }
  await held.arrived;
  held.release();
  expect(cached.service.calls()).toEqual([GET, GET]);
});

it('a read of a service that does not respond in half of the time limit uses the stored response, and the late one is stored', async () => {
  await using cached = await startCachedGateway({ attemptTimeoutMs: 6_000 });
  await cached.run(READ_WORKFLOW);
  cached.change();
  cached.advance(61);
  const held = cached.service.hold(GET);
  const startedAt = performance.now();
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  expect(performance.now() - startedAt).toBeGreaterThan(2_990);
  await held.arrived;
  held.release();
  await expect.poll(() => cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
  expect(cached.service.calls()).toEqual([GET, GET]);
});

it("a read that needs its operation's last time uses the stored response", async () => {
  await using cached = await startCachedGateway({ operationTimeoutMs: 2_000 });
  await cached.run(READ_WORKFLOW);
  cached.advance(61);
  const held = cached.service.hold(GET);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  await held.arrived;
  held.release();
});

it('a client that disconnects ends its wait, but not the call', async () => {
  await using cached = await startCachedGateway({ attemptTimeoutMs: 60_000, operationTimeoutMs: 60_000 });
  await cached.run(READ_WORKFLOW);
  cached.change();
  cached.advance(61);
  const release = await cached.disconnectDuring(GET, READ_WORKFLOW);
  const lines = () => cached.log.filter(({ msg }) => msg === 'operation');
  await expect.poll(() => lines().length, { timeout: 20_000 }).toBe(2); // It would wait for thirty seconds.
  const next = cached.run(READ_WORKFLOW);
  release();
  expect(await next).toEqual(nameOf(1));
  expect(cached.service.calls()).toEqual([GET, GET]);
});

it('a read that bypasses the cache is stored for others, and uses nothing in an outage', async () => {
  const bypass = { 'cache-control': 'no-cache' };
  await using cached = await startCachedGateway({ maxRetries: 0 });
  await cached.run(READ_WORKFLOW);
  cached.change();
  expect(await cached.run(READ_WORKFLOW, 'a', bypass)).toEqual(nameOf(1));
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
  cached.service.script = () => ({ status: 503 });
  expect(await cached.run(READ_WORKFLOW, 'a', bypass)).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
});

it('a record that does not exist is requested each time', async () => {
  await using cached = await startCachedGateway();
  cached.service.script = () => ({ status: 404, body: { statusCode: 404 } });
  await cached.run(READ_WORKFLOW);
  await cached.run(READ_WORKFLOW);
  expect(cached.service.calls()).toEqual([GET, GET]);
});

it.each(STORES)('a response with very deep values can be read (%s)', async (kind) => {
  await using cache = await startTestCache(kind);
  await using cached = await startCachedGateway({ cache: cache.settings });
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  cached.service.script = () => ({ body: `{"data":{"_id":"w1","name":"deep","payload":${deep}}}` });
  expect(await cached.run(READ_WORKFLOW)).toEqual({ workflow: { name: 'deep' } });
  expect(await cached.run(READ_WORKFLOW)).toEqual({ workflow: { name: 'deep' } });
  expect(cached.service.calls()).toEqual(kind === 'memory' ? [GET] : [GET, GET]); // Redis stores JSON.
});

it('the windows of built-in reads can be set for all together', async () => {
  await using cached = await startCachedGateway({ cache: { freshSeconds: 2, staleIfErrorSeconds: 8 }, maxRetries: 0 });
  await cached.run(READ_WORKFLOW);
  cached.service.script = () => ({ status: 503 });
  cached.advance(1.999);
  await cached.run(READ_WORKFLOW);
  expect(cached.service.calls()).toHaveLength(1);
  cached.advance(8);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  cached.advance(22.002); // Used for 30 s while it is requested again, so it is kept that long.
  expect(await cached.run(READ_WORKFLOW)).toEqual(['UPSTREAM_UNAVAILABLE']);
});

it('a refresh in the background ends when the gateway is closed', async () => {
  const cached = await startCachedGateway({ attemptTimeoutMs: 60_000 });
  await cached.run(READ_WORKFLOW);
  cached.advance(31);
  const held = cached.service.hold(GET);
  await cached.run(READ_WORKFLOW);
  await held.arrived;
  await cached[Symbol.asyncDispose](); // Would wait for the time limit of an attempt.
}, 40_000);
