import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkHistory, type History } from '../../support/cache-history.ts';
import { cacheOf, passRealTime, SEEDS, testCacheStore, UNKNOWN_MS } from '../../support/cache-store-contract.ts';
import { guards } from '../../support/guards.ts';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../../support/redis.ts';
import { createRedisCache } from '../../support/test-cache.ts';

guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.find');
guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.put');
guards('src/upstream/cache/redis-store.ts', 'RedisCacheStore.#setFirst');
guards('src/upstream/cache/redis-store.ts', 'readState');

type Random = (below: number) => number;

/** Ways in which Redis loses some or all of what it holds, or doesn't respond. */
const DAMAGES: readonly ((redis: TestRedis, random: Random) => Promise<unknown>)[] = [
  (redis) => redis.command('FLUSHALL'),
  async (redis, random) => {
    for (let i = 0; i < 10; i += 1) {
      const keys = [await redis.command('KEYS', '*')].flat().map(String);
      await redis.command('DEL', keys[random(Math.max(1, keys.length))] ?? 'none');
    }
  },
  async (redis, random) => {
    redis.pause();
    await passRealTime(random(400));
    redis.resume();
  },
  async (redis, random) => {
    if (random(2) === 0) {
      await redis.command('SAVE');
      await passRealTime(random(200));
    }
    await redis.kill();
    await redis.start();
  },
];

describe.runIf(hasRedis)(`a cache store in Redis${redisOnly}`, () => {
  let redis: TestRedis;
  let count = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  testCacheStore(
    async () => {
      const [first, second] = [createRedisCache(redis.url), createRedisCache(redis.url)];
      return {
        store: first.store,
        sharedStore: second.store,
        pass: passRealTime,
        async [Symbol.asyncDispose]() {
          await first[Symbol.asyncDispose]();
          await second[Symbol.asyncDispose]();
        },
      };
    },
    () => startHistory(),
  );

  it.each(SEEDS)(
    'returns nothing too old or of another owner, although Redis loses data or stops (seed %i)',
    async (seed) => {
      await using history = await startHistory(DAMAGES);
      await checkHistory(history, seed);
    },
    120_000,
  );

  /** Starts three processes with a Redis of their own. */
  async function startHistory(damages: typeof DAMAGES = []): Promise<History> {
    const own = await startRedis();
    const caches = [1, 2, 3].map(() => createRedisCache(own.url, { timeoutMs: 250 }));
    return {
      stores: caches.map(({ store }) => store),
      async damage(random) {
        await damages[random(Math.max(1, damages.length))]?.(own, random);
      },
      async [Symbol.asyncDispose]() {
        await Promise.all(caches.map((cache) => cache[Symbol.asyncDispose]()));
        await own[Symbol.asyncDispose]();
      },
    };
  }

  /** Creates a store with an owner and its own prefix, so that its keys can be found. */
  function startOwner(options: Parameters<typeof createRedisCache>[1] = {}) {
    count += 1;
    const prefix = `test-${count}:`;
    const setup = createRedisCache(redis.url, { prefix, ...options });
    onTestFinished(() => setup[Symbol.asyncDispose]());
    return {
      ...setup,
      ...cacheOf(setup.store),
      /** Returns the keys of one kind. */
      async keys(kind: string): Promise<string[]> {
        return [await redis.command('KEYS', `${options.prefix ?? prefix}${kind}*`)].flat().map(String);
      },
    };
  }

  it('has no credential, address, id or name in plain text, and nothing without end but the epoch', async () => {
    const setup = startOwner();
    const owner = { address: 'https://canary-upstream.test', credential: 'ApiKey canary-key' };
    const { load, write, begin } = cacheOf(setup.store, owner);
    await load('/v1/stats', 'canary-count', 'statistics');
    await write(['statistics'], true);
    await load('/v1/workflows/canary-id', 'canary-name');
    expect(await setup.keys('entry:')).toHaveLength(2);
    await begin();
    const dump = await Promise.all(
      (await setup.keys('')).map(async (key) =>
        JSON.stringify([
          key,
          await redis.command('PTTL', key),
          key.includes(':writes:') ? await redis.command('HGETALL', key) : await redis.command('GET', key),
        ]),
      ),
    );
    expect(dump.length).toBeGreaterThanOrEqual(7);
    expect(dump.join('\n')).not.toMatch(/canary|ApiKey|secret/i);
    expect(dump.filter((line) => line.includes(',-1,'))).toEqual([expect.stringContaining(':epoch')]);
  });

  it('keeps nothing about a credential that the service rejects, unless a write is in progress', async () => {
    const { find, load, begin, drop, write, keys } = startOwner();
    await find('/a');
    await drop();
    expect(await keys('[vweu]*:')).toEqual([]); // Only the epoch, which all share.
    const open = await begin();
    await load('/a');
    await drop();
    expect(await keys('entry')).toEqual([]);
    expect(await keys('writes')).toHaveLength(1);
    await open.end(0);
    expect(await keys('writes')).toEqual([]);
    for (let i = 0; i < 10; i += 1) {
      await write(['workflows'], true);
    }
    expect(await keys('[vweu]*:')).toEqual([expect.stringContaining(':unknown:')]); // However many have an unknown outcome.
    const [unknown = ''] = await keys('unknown');
    expect(await redis.command('PTTL', unknown)).toBeLessThanOrEqual(UNKNOWN_MS);
    await expect.poll(() => keys('unknown'), { timeout: 2 * UNKNOWN_MS }).toEqual([]);
  });

  it('takes a value that is corrupted, truncated, foreign or from another path as missing, and replaces it', async () => {
    const { body, find, load, keys, log } = startOwner();
    await load('/a', 'byte 100');
    const [key = ''] = await keys('entry:');
    await load('/b');
    const other = (await keys('entry:')).find((name) => name !== key) ?? '';
    const length = Number(await redis.command('STRLEN', key));
    const replace = (text: string) =>
      redis.command(
        'EVAL',
        `local value = redis.call('GET', KEYS[1]); redis.call('SET', KEYS[1], (${text}))`,
        '1',
        key,
      );
    const changes: [string, () => Promise<unknown>][] = [
      ...[0, 5, 20, 60, 75, 80, 100, length - 20, length - 1].map((offset): [string, () => Promise<unknown>] => [
        `byte ${offset}`,
        () =>
          redis.command(
            'EVAL',
            `local byte = string.byte(redis.call('GETRANGE', KEYS[1], ARGV[1], ARGV[1]))
             redis.call('SETRANGE', KEYS[1], ARGV[1], string.char((byte + 128) % 256))`,
            '1',
            key,
            String(offset),
          ),
      ]),
      ['last byte is missing', () => replace('string.sub(value, 1, -2)')],
      ['only the header', () => replace("string.match(value, '^.-\\n')")],
      ['without a version', () => replace("string.gsub(value, '^(%d+) %S+ %S+', '%1 ')")],
      ['from the future', () => replace("string.gsub(value, '^%d', '9')")],
      ['more bytes', () => redis.command('APPEND', key, 'x')],
      ['empty', () => redis.command('SET', key, '')],
      ['foreign', () => redis.command('SET', key, 'hello')],
      ['very large', () => redis.command('SETRANGE', key, '1080000', 'x')],
      ['a list', () => redis.command('DEL', key).then(() => redis.command('LPUSH', key, 'x'))],
      ['of another path', () => redis.command('COPY', other, key, 'REPLACE')],
    ];
    for (const [name, change] of changes) {
      await load('/a', name);
      expect(await body('/a')).toBe(name);
      await change();
      expect(await find('/a'), name).toEqual({
        entry: undefined,
        version: expect.any(String),
        state: 'current',
        at: expect.any(Number),
      });
    }
    await load('/a', 'new');
    expect(await body('/a')).toBe('new');
    expect(log).toEqual([]);
  });

  it("can't be read with another credential or secret, even with the owner's state", async () => {
    const setup = startOwner({ prefix: 'test-shared:' });
    const otherCredential = startOwner({ prefix: 'test-shared:' });
    const otherSecret = startOwner({
      prefix: 'test-shared:',
      secret: 'another-secret-0123456789abcdef-4711',
    });
    await setup.load('/a');
    const [version = ''] = await setup.keys('version');
    const [entry = ''] = await setup.keys('entry');
    for (const { keys, load, find } of [otherCredential, otherSecret]) {
      const before = [...(await keys('version')), ...(await keys('entry'))];
      await load('/a', 'theirs');
      for (const key of [...(await keys('version')), ...(await keys('entry'))]) {
        if (!before.includes(key)) {
          await redis.command('COPY', key.includes(':version:') ? version : entry, key, 'REPLACE');
        }
      }
      const found = await find('/a');
      expect(found.entry).toBeUndefined();
      expect(found.version).toBe(await setup.version());
    }
    expect(await setup.body('/a')).toBe(1);
  });

  it('compresses entries, and stores none that is too large', async () => {
    const { body, load, keys } = startOwner();
    const isStored = async (path: string, text: string) => isDeepStrictEqual(await body(path), text);
    for (const bytes of [900, 100_000, 2_000_000]) {
      const text = 'Grüße '.repeat(bytes / 7);
      await load(`/${bytes}`, text);
      expect(await isStored(`/${bytes}`, text)).toBe(true);
    }
    const largest = async () =>
      Math.max(...(await Promise.all((await keys('entry:')).map((key) => redis.command('STRLEN', key)))).map(Number));
    expect(await largest()).toBeLessThan(20_000);
    await load('/random', randomBytes(1_200_000).toString('base64'));
    await load('/text', 'a'.repeat(9_000_000));
    const text = randomBytes(600_000).toString('base64');
    await load('/large', text);
    expect(await isStored('/large', text)).toBe(true);
    for (const path of ['/random', '/text']) {
      expect((await body(path)) === undefined, path).toBe(true);
    }
    expect(await largest()).toBeLessThan(1_100_000);
  });

  it('skips entries while too many bytes are being stored', async () => {
    const setup = startOwner();
    await setup.load('/first');
    const lookup = await setup.find('/a');
    const body = 'a'.repeat(1_000_000);
    await Promise.all(Array.from({ length: 24 }, (_, i) => setup.put(`/${i}`, lookup, body)));
    expect(await setup.keys('entry:')).toHaveLength(18); // The first 16 MiB, what exceeds them, and the first one.
    await setup.load('/later');
    expect(await setup.body('/later')).toBe(1);
    expect(await setup.body('/20')).toBeUndefined();
  });

  it('loses all entries of a kind whose version was evicted, and stores no read in flight since before', async () => {
    const { body, find, load, put, begin, keys, log } = startOwner();
    await load('/a');
    const before = await find('/a');
    const [version = ''] = await keys('version');
    await redis.command('DEL', version);
    expect(await body('/a')).toBeUndefined();
    await put('/a', before);
    expect(await body('/a')).toBeUndefined();
    const first = await find('/a');
    await (await begin()).end(0);
    await redis.command('DEL', version);
    await put('/a', first); // The version of the write is gone, but the epoch has changed.
    expect(await body('/a')).toBeUndefined();
    await redis.command('DEL', version);
    const second = await find('/a');
    await redis.command('FLUSHALL');
    await put('/a', second);
    expect(await body('/a')).toBeUndefined();
    await load('/a', 2);
    expect(await body('/a')).toBe(2);
    expect(log).toEqual([]);
  });

  it('works for a user who may run only the commands that its message names', async () => {
    await redis.command('ACL', 'SETUSER', 'limited', 'on', '>pass', '~test-acl:*', '+@connection');
    const url = redis.url.replace('redis://', 'redis://limited:pass@');
    await using denied = createRedisCache(url, { prefix: 'test-acl:' });
    await expect.poll(() => denied.log).toMatchObject([{ reason: 'NOPERM' }]);
    const commands = /run the commands (.+?)\./.exec(denied.log[0]?.msg ?? '')?.[1]?.split(/, | and /) ?? [];
    await redis.command('ACL', 'SETUSER', 'limited', ...commands.map((name) => `+${name.toLowerCase()}`));
    await using setup = createRedisCache(url, { prefix: 'test-acl:' });
    const { body, load, write, drop, begin } = cacheOf(setup.store);
    await load('/a', 2);
    expect(await body('/a')).toBe(2);
    await begin(['statistics']);
    await write(['statistics'], true);
    await write();
    await load('/a');
    expect(await body('/a')).toBe(1);
    await drop();
    expect(await body('/a')).toBeUndefined();
    expect(setup.log).toEqual([]);
  });
});
