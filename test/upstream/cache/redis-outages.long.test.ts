import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cacheOf, newOwner, UNKNOWN_MS } from '../../support/cache-store-contract.ts';
import { READ_WORKFLOW, startCachedGateway } from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../../support/redis.ts';
import { startRedisProxy } from '../../support/redis-proxy.ts';
import { createRedisCache, SECRET } from '../../support/test-cache.ts';

guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.find');
guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.#miss');
guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.#try');

const UNAVAILABLE = 'Redis is unavailable. Until it is back, reads are not cached.';
const AVAILABLE_AGAIN = 'Redis is available again. Reads are cached.';

const NOTHING = { entry: undefined, version: undefined, state: 'unavailable', at: 0 };

const MISS = { entry: undefined, version: expect.any(String), state: 'current', at: expect.any(Number) };

const SLOW_POLL = { timeout: 15_000, interval: 10 };

describe.runIf(hasRedis)(`a cache store whose Redis${redisOnly}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  /** Starts two processes with one owner, for whom one has stored an entry. The first one waits a second for Redis. */
  async function startProcesses() {
    const first = createRedisCache(redis.url, { timeoutMs: 1_000 });
    const second = createRedisCache(redis.url);
    onTestFinished(async () => {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    });
    const owner = newOwner();
    const [mine, theirs] = [cacheOf(first.store, owner), cacheOf(second.store, owner)];
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toMatchObject({ version: expect.any(String) });
    await theirs.load('/a');
    await theirs.load('/stats', 2, 'statistics');
    return { first, mine, theirs };
  }

  it('does not respond is waited for once, and then not at all', async () => {
    const { first, mine } = await startProcesses();
    redis.pause();
    expect(await mine.find('/a')).toEqual(NOTHING);
    let isSettled = false;
    const next = Promise.all([mine.find('/a'), mine.begin(), mine.drop()]).then(() => {
      isSettled = true;
    });
    await immediate();
    expect(isSettled).toBe(true);
    await next;
    expect(first.store.stats()).toEqual({ problem: 'Redis is unavailable (TIMEOUT)' });
    redis.resume();
    await expect.poll(() => first.log.map(({ msg }) => msg), SLOW_POLL).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
    expect(first.store.stats()).toEqual({ problem: undefined });
  });

  it('misses the beginning of a write is not used for its kinds until the write has ended and their entries are gone', async () => {
    const { first, mine, theirs } = await startProcesses();
    redis.pause();
    const write = await mine.begin();
    redis.resume();
    await expect.poll(() => cacheOf(first.store).find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect(await mine.find('/a')).toEqual(NOTHING);
    expect(await mine.body('/stats', 'statistics')).toBe(2);
    await write.end(0);
    expect(await theirs.body('/a')).toBeUndefined();
    expect(await mine.find('/a')).toEqual(MISS);
  });

  it('misses a write whose outcome is unknown is not used for its kinds for a while', async () => {
    const { first, mine } = await startProcesses();
    const write = await mine.begin();
    redis.pause();
    expect(await cacheOf(first.store).find('/a')).toEqual(NOTHING);
    await write.end(UNKNOWN_MS);
    redis.resume();
    await expect.poll(() => cacheOf(first.store).find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect(await mine.find('/a')).toEqual(NOTHING);
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toMatchObject({ version: expect.any(String) });
  });

  it('has no memory to end a write, or to drop a rejected credential, does so as soon as it has some', async () => {
    const { first, mine, theirs } = await startProcesses();
    const rejected = cacheOf(first.store);
    await rejected.load('/a');
    const write = await mine.begin();
    await theirs.load('/a', 'during the write');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await write.end(0);
    await rejected.drop();
    expect([await mine.find('/a'), await rejected.find('/a')]).toEqual([NOTHING, NOTHING]);
    expect(first.log).toMatchObject([{ msg: UNAVAILABLE, reason: 'OOM' }]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => mine.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.body('/a'), await theirs.body('/a')]).toEqual([undefined, undefined]);
    await expect.poll(() => rejected.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect(await rejected.body('/a')).toBeUndefined();
  });

  it('misses a write again while it replaces what it has missed replaces it once more', async () => {
    await using proxy = await startRedisProxy(redis);
    await using mine = createRedisCache(proxy.url, { timeoutMs: 2_000 });
    const owner = newOwner();
    const cache = cacheOf(mine.store, owner);
    await expect.poll(() => cache.find('/a'), SLOW_POLL).toMatchObject({ version: expect.any(String) });
    const before = [await redis.command('KEYS', '*:version:*')].flat().map(String);
    await cache.load('/a');
    const [key = ''] = [await redis.command('KEYS', '*:version:*')]
      .flat()
      .map(String)
      .filter((each) => !before.includes(each));
    const write = await cache.begin();
    proxy.breaksWrites = true;
    await cache.write(); // It is missed.
    const replacing = proxy.holdReplies(key);
    proxy.breaksWrites = false;
    await replacing;
    await expect.poll(() => redis.command('GET', key)).toEqual(expect.anything());
    proxy.breaksWrites = true;
    const broken = proxy.broken();
    const ended = write.end(0);
    await expect.poll(() => proxy.broken()).toBeGreaterThan(broken);
    const replaced = String(await redis.command('GET', key));
    proxy.release();
    await ended;
    proxy.breaksWrites = false;
    await expect.poll(async () => String(await redis.command('GET', key)), SLOW_POLL).not.toBe(replaced);
  });

  it('misses a whole write loses its entries once it is back', async () => {
    const { first, mine, theirs } = await startProcesses();
    redis.pause();
    await mine.write();
    redis.resume();
    await expect.poll(() => cacheOf(first.store).find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    await expect.poll(() => mine.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.body('/a'), await theirs.body('/a')]).toEqual([undefined, undefined]);
    expect(await mine.body('/stats', 'statistics')).toBe(2);
  });

  it('misses more writes than a process remembers has no entries from before for this process, but those it has found', async () => {
    const { first, mine } = await startProcesses();
    const [found, written] = [cacheOf(first.store), cacheOf(first.store)];
    await found.load('/a');
    await written.load('/a');
    const versions = await redis.command('KEYS', '*:version:*');
    redis.pause();
    await cacheOf(first.store).write(Array.from({ length: 10_000 }, (_, i) => `kind ${i}`));
    await Promise.all(Array.from({ length: 100 }, () => cacheOf(first.store).write()));
    await Promise.all(Array.from({ length: 100 }, () => cacheOf(first.store).drop())); // The service rejected their keys.
    await written.write();
    expect(await mine.find('/a')).toEqual(NOTHING);
    redis.resume();
    await expect.poll(() => mine.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.body('/a'), await mine.body('/stats', 'statistics')]).toEqual([undefined, undefined]);
    expect([await found.body('/a'), await written.body('/a')]).toEqual([1, undefined]);
    await mine.load('/a', 2);
    expect(await mine.body('/a')).toBe(2);
    expect(new Set([await redis.command('KEYS', '*:version:*')].flat())).toEqual(new Set([versions].flat()));
  });

  it('is killed and loads an old snapshot has no entries from before, and stores no read in flight', async () => {
    const { first, mine, theirs } = await startProcesses();
    const other = cacheOf(first.store);
    const [known, unknown] = [await mine.find('/b'), await other.find('/b')];
    await redis.command('SAVE');
    await theirs.write();
    await redis.kill();
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toEqual(NOTHING);
    await redis.start();
    expect(await redis.command('DBSIZE')).toBeGreaterThan(2);
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toEqual(MISS);
    expect(await mine.body('/stats', 'statistics')).toBeUndefined();
    await mine.put('/b', known);
    await other.put('/b', unknown);
    expect([await mine.body('/b'), await other.body('/b')]).toEqual([undefined, undefined]);
    await mine.load('/a', 2);
    expect(await mine.body('/a')).toBe(2);
    expect(first.log.map(({ msg }) => msg)).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
  });

  it('works while the service does not holds nothing that lasts of keys that the service never accepted', async () => {
    await using cached = await startCachedGateway(
      { maxRetries: 0, cache: { store: { redis: { url: redis.url, keyPrefix: 'wire:' } }, secret: SECRET } },
      { breakerMinimumCalls: 1_000 },
    );
    const keys = async (pattern: string) => [await redis.command('KEYS', `wire:cache:${pattern}`)].flat().map(String);
    await expect.poll(() => cached.run(READ_WORKFLOW).then(() => keys('entry:*')), SLOW_POLL).toHaveLength(1);
    const versions = await keys('version:*');
    cached.service.script = () => ({ status: 503 });
    cached.service.forget();
    const write = 'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { __typename } }';
    await Promise.all(Array.from({ length: 50 }, (_, i) => cached.run(write, `invented-${i}`)));
    expect(cached.service.calls()).toEqual(new Array(50).fill('PUT /v1/workflows/w1/status'));
    expect(await keys('version:*')).toEqual(versions);
    const marks = (await keys('*:*')).filter((key) => !/:(?:version|entry):/.test(key));
    expect(marks).toHaveLength(50);
    for (const mark of marks) {
      const milliseconds = await redis.command('PTTL', mark);
      expect(milliseconds).toBeGreaterThan(0);
      expect(milliseconds).toBeLessThanOrEqual(30_000);
    }
    cached.service.forget();
    expect(await cached.run(READ_WORKFLOW)).toEqual({ workflow: { name: 'v0' } });
    expect(cached.service.calls()).toEqual([]);
  });

  it('loses a process in the middle of a write does not use what the write changes until it must have ended', async () => {
    const { first, mine, theirs } = await startProcesses();
    await mine.begin();
    await first.store[Symbol.asyncDispose]();
    await theirs.load('/a');
    expect([await theirs.body('/a'), await theirs.body('/stats', 'statistics')]).toEqual([undefined, 2]);
  });
});
