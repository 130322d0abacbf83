import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPendingDrops } from '../../../src/upstream/cache/pending-drops.ts';
import { newOwner, partitionOf } from '../../support/cache-store-contract.ts';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../../support/redis.ts';
import { createRedisCache } from '../../support/redis-cache.ts';

const UNAVAILABLE = 'Redis is unavailable. Until it is back, reads are not cached.';
const AVAILABLE_AGAIN = 'Redis is available again. Reads are cached.';

const NOTHING = { entry: undefined, moment: undefined };

const SLOW_POLL = { timeout: 15_000, interval: 10 };

describe.runIf(hasRedis)(`a cache store whose Redis${redisOnly}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  /** Starts two processes with one partition, in which each has stored an entry. The first one waits a second for Redis. */
  async function startProcesses(options: Parameters<typeof createRedisCache>[1] = {}) {
    const first = createRedisCache(redis.url, { timeoutMs: 1_000, ...options });
    const second = createRedisCache(redis.url);
    const owner = newOwner();
    const [mine, theirs] = [partitionOf(first.store, owner), partitionOf(second.store, owner)];
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toMatchObject({ moment: expect.any(String) });
    await theirs.put('/a', ['a']);
    await theirs.put('/b', ['b']);
    return {
      first,
      mine,
      theirs,
      async [Symbol.asyncDispose]() {
        await first[Symbol.asyncDispose]();
        await second[Symbol.asyncDispose]();
      },
    };
  }

  it('does not respond is waited for once, and then not at all', async () => {
    await using processes = await startProcesses();
    const { first, mine } = processes;
    redis.pause();
    expect(await mine.find('/a')).toEqual(NOTHING);
    let isSettled = false;
    const next = Promise.all([mine.find('/a'), mine.begin(['x']), mine.drop()]).then(() => {
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

  it('misses the beginning of a write is not used for that credential until the write has ended and its entries are gone', async () => {
    await using processes = await startProcesses();
    const { first, mine, theirs } = processes;
    const other = partitionOf(first.store);
    redis.pause();
    const [applied, refused] = [await mine.begin(['a']), await other.begin(['a'])];
    redis.resume();
    await expect.poll(() => partitionOf(first.store).find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.find('/a'), await other.find('/a')]).toEqual([NOTHING, NOTHING]);
    expect(await theirs.version('/b')).toEqual({ version: 1 });
    await applied.end('applied');
    await refused.end('not applied');
    expect([await theirs.version('/a'), await theirs.version('/b')]).toEqual([undefined, undefined]);
    expect(await mine.find('/a')).toEqual({ entry: undefined, moment: expect.any(String) });
    expect(await other.find('/a')).toEqual({ entry: undefined, moment: expect.any(String) });
  });

  it('has no memory to end a write, or to drop a rejected credential, does so as soon as it has some', async () => {
    await using processes = await startProcesses();
    const { first, mine, theirs } = processes;
    const rejected = partitionOf(first.store);
    await rejected.put('/a', ['a']);
    const write = await mine.begin(['a']);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await write.end('applied', ['b']);
    await rejected.drop();
    expect([await mine.find('/b'), await rejected.find('/a')]).toEqual([NOTHING, NOTHING]);
    expect(first.log).toMatchObject([{ msg: UNAVAILABLE, reason: 'OOM' }]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => mine.find('/b'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.version('/b'), await theirs.version('/b')]).toEqual([undefined, undefined]);
    await expect.poll(() => rejected.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect(await rejected.version('/a')).toBeUndefined();
  });

  it('misses more writes than a process remembers has no entries from before', async () => {
    await using processes = await startProcesses({ maxPendingDrops: 0 });
    const { first, mine, theirs } = processes;
    redis.pause();
    await (await partitionOf(first.store).begin(['a'])).end('applied');
    expect(await mine.find('/a')).toEqual(NOTHING);
    redis.resume();
    await expect.poll(() => mine.find('/a'), SLOW_POLL).not.toEqual(NOTHING);
    expect([await mine.version('/a'), await theirs.version('/b')]).toEqual([undefined, undefined]);
  });

  it('is killed and loads an old snapshot has no entries from before', async () => {
    await using processes = await startProcesses();
    const { first, mine, theirs } = processes;
    await redis.command('SAVE');
    await theirs.write(['a']);
    await redis.kill();
    await expect.poll(() => mine.find('/b'), SLOW_POLL).toEqual(NOTHING);
    await redis.start();
    expect(await redis.command('DBSIZE')).toBeGreaterThan(2);
    await expect.poll(() => mine.find('/a'), SLOW_POLL).toEqual({ entry: undefined, moment: expect.any(String) });
    expect(await mine.version('/b')).toBeUndefined();
    await mine.put('/a', ['a'], { version: 2 });
    expect(await mine.version('/a')).toEqual({ version: 2 });
    expect(first.log.map(({ msg }) => msg)).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
  });

  it('loses a process in the middle of a write does not use what the write changes until it must have ended', async () => {
    await using processes = await startProcesses();
    const { first, mine, theirs } = processes;
    await mine.begin(['a'], 60_000);
    await first.store[Symbol.asyncDispose]();
    await theirs.put('/a', ['a']);
    expect([await theirs.version('/a'), await theirs.version('/b')]).toEqual([undefined, { version: 1 }]);
  });
});

describe('partitions that Redis could not be told about', () => {
  /** Starts with a Redis that is down. */
  function start(maxPartitions: number) {
    const dropped: (string | undefined)[] = [];
    const holds: number[] = [];
    const redis = { isUp: false };
    const drops = createPendingDrops(async (partition, holdMs) => {
      await immediate();
      if (redis.isUp) {
        dropped.push(partition);
        holds.push(holdMs);
      }
      return redis.isUp;
    }, maxPartitions);
    return { drops, dropped, holds, redis };
  }

  it('are dropped once, and forgotten if their writes were not applied', async () => {
    const { drops, dropped, holds, redis } = start(100);
    await drops.add('a', 0);
    await drops.add('a', 30_000);
    const [first, second, refused] = ['b', 'b', 'c'].map(drops.beginWrite);
    await refused?.end(false, 0);
    await first?.end(true, 0);
    redis.isUp = true;
    await Promise.all([drops.retry(), drops.retry()]);
    expect(dropped).toEqual(['a']);
    expect(holds[0]).toBeGreaterThan(29_000);
    expect(['a', 'b', 'c'].map(drops.has)).toEqual([false, true, false]);
    await second?.end(false, 0);
    expect(dropped).toEqual(['a', 'b']);
    expect(drops.has('b')).toBe(false);
  });

  it('are all dropped if they are too many to be remembered', async () => {
    const { drops, dropped, redis } = start(3);
    const writes = Array.from({ length: 10 }, (_, i) => drops.beginWrite(`${i}`));
    expect(drops.has('never seen')).toBe(true);
    await Promise.all(writes.map((write) => write.end(true, 0)));
    redis.isUp = true;
    await drops.retry();
    expect(dropped).toEqual(['0', '1', '2', undefined]);
    expect(drops.has('never seen')).toBe(false);
  });

  it('are dropped again if a write ends while they are being dropped', async () => {
    const { drops, dropped, redis } = start(100);
    await drops.add('a', 0);
    redis.isUp = true;
    const retrying = drops.retry();
    const write = drops.beginWrite('a');
    await retrying;
    expect(drops.has('a')).toBe(true);
    await write.end(true, 0);
    expect(dropped).toEqual(['a', 'a']);
    expect(drops.has('a')).toBe(false);
  });
});
