import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartitionKeys } from '../../../src/upstream/cache/partition-keys.ts';
import { pack, unpack } from '../../../src/upstream/cache/sealed-value.ts';
import { entryOf, partitionOf, passRealTime, testCacheStore } from '../../support/cache-store-contract.ts';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../../support/redis.ts';
import { createRedisCache, SECRET } from '../../support/redis-cache.ts';

describe.runIf(hasRedis)(`a cache store in Redis${redisOnly}`, () => {
  let redis: TestRedis;
  let count = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  testCacheStore(async () => {
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
  });

  /** Creates a store with a partition and its own prefix, so that its keys can be found. */
  function startPartition(options: Parameters<typeof createRedisCache>[1] = {}) {
    count += 1;
    const prefix = `test-${count}:`;
    const setup = createRedisCache(redis.url, { prefix, ...options });
    const partition = partitionOf(setup.store);
    return {
      ...setup,
      ...partition,
      names: createPartitionKeys(options.secret ?? SECRET, options.prefix ?? prefix)(partition.owner),
      /** Returns the keys of one kind. */
      async keys(kind: string): Promise<string[]> {
        const found = await redis.command('KEYS', `${prefix}${kind}*`);
        return Array.isArray(found) ? found.map(String) : [];
      },
    };
  }

  it('has no credential, address, id or name in plain text, and nothing without end', async () => {
    await using setup = startPartition();
    const owner = { upstream: 'https://canary-upstream.test', credential: 'ApiKey canary-key' };
    const { put, write, begin } = partitionOf(setup.store, owner);
    await put('/v1/workflows/canary-id', ['workflow:canary-id'], { version: 'canary-name' });
    await write(['group:canary-group']);
    await begin(['group:canary-other']);
    const keys = await setup.keys('');
    const dump = await Promise.all(
      keys.map(async (key) =>
        JSON.stringify([
          key,
          await redis.command('PTTL', key),
          key.includes(':state:') ? await redis.command('HGETALL', key) : await redis.command('GET', key),
        ]),
      ),
    );
    expect(dump.length).toBeGreaterThanOrEqual(3);
    expect(dump.join('\n')).not.toMatch(/canary|version|workflow|ApiKey|secret/i);
    expect(dump.filter((line) => line.includes(',-1,'))).toEqual([expect.stringContaining(':generation')]);
  });

  it('keeps nothing about a credential that the service rejects, unless a write is in progress', async () => {
    await using setup = startPartition();
    const { store, owner, find, begin } = setup;
    await find('/a');
    expect(await setup.keys('state')).toHaveLength(1);
    await store.drop(owner);
    expect(await setup.keys('state')).toEqual([]);
    const write = await begin(['a']);
    await store.drop(owner);
    expect(await setup.keys('state')).toHaveLength(1);
    await write.end('not applied');
  });

  it('takes a value that is corrupted, truncated, foreign or from another path as missing, and replaces it', async () => {
    await using setup = startPartition();
    const { put, version, find } = setup;
    const [key, other] = [setup.names.entryOf('/a'), setup.names.entryOf('/b')];
    await put('/a', ['a'], { version: 'byte 100' });
    await put('/b', ['a']);
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
      ['without tags', () => replace("string.gsub(value, '^(%d+ %S+ %d+) %S+', '%1 ')")],
      ['not compressed', () => replace("string.gsub(value, ' j\\n', ' z\\n', 1)")],
      ['more bytes', () => redis.command('APPEND', key, 'x')],
      ['empty', () => redis.command('SET', key, '')],
      ['foreign', () => redis.command('SET', key, 'hello')],
      ['very large', () => redis.command('SETRANGE', key, '3000000', 'x')],
      ['a list', () => redis.command('DEL', key).then(() => redis.command('LPUSH', key, 'x'))],
      ['of another path', () => redis.command('COPY', other, key, 'REPLACE')],
    ];
    for (const [name, change] of changes) {
      await put('/a', ['a'], { version: name });
      expect(await version('/a')).toEqual({ version: name });
      await change();
      expect(await find('/a'), name).toEqual({ entry: undefined, moment: expect.any(String) });
      await redis.command('DEL', key);
    }
    await redis.command('LPUSH', key, 'x');
    await put('/a', ['a'], { version: 'new' });
    expect(await version('/a')).toEqual({ version: 'new' });
    expect(setup.log).toEqual([]);
  });

  it("can't be read with another credential or secret, even with the partition's state", async () => {
    await using setup = startPartition({ prefix: 'test-shared:' });
    await using otherCredential = startPartition({ prefix: 'test-shared:' });
    await using otherSecret = startPartition({
      prefix: 'test-shared:',
      secret: 'another-secret-0123456789abcdef-4711',
    });
    await setup.put('/a', ['a']);
    for (const { names, put, find } of [otherCredential, otherSecret]) {
      await put('/a', ['a'], { version: 'theirs' });
      await redis.command('COPY', setup.names.state, names.state, 'REPLACE');
      await redis.command('COPY', setup.names.entryOf('/a'), names.entryOf('/a'), 'REPLACE');
      expect(await find('/a')).toEqual({ entry: undefined, moment: await setup.moment() });
    }
    expect(await setup.version('/a')).toBeDefined();
  });

  it('compresses entries, and stores none that is too large', async () => {
    await using setup = startPartition();
    const { put, version } = setup;
    const isStored = (path: string, text: string) =>
      expect
        .poll(async () => isDeepStrictEqual(await version(path), { version: text }), { timeout: 20_000 })
        .toBe(true);
    for (const bytes of [900, 100_000, 2_000_000]) {
      const text = 'Grüße '.repeat(bytes / 7);
      await put(`/${bytes}`, ['a'], { version: text });
      await isStored(`/${bytes}`, text);
    }
    const largest = async () =>
      Math.max(
        ...(await Promise.all((await setup.keys('entry:')).map((key) => redis.command('STRLEN', key)))).map(Number),
      );
    expect(await largest()).toBeLessThan(20_000);
    await put('/random', ['a'], { version: randomBytes(1_200_000).toString('base64') });
    await put('/text', ['a'], { version: 'a'.repeat(9_000_000) });
    const text = randomBytes(600_000).toString('base64');
    await put('/large', ['a'], { version: text });
    await isStored('/large', text);
    await setup.settle();
    for (const path of ['/random', '/text']) {
      expect((await version(path)) === undefined, path).toBe(true);
    }
    expect(await largest()).toBeLessThan(1_100_000);
    const packed = await pack(Buffer.alloc(50_000));
    expect(() => unpack(packed, 49_999)).toThrow(RangeError);
    expect(unpack(packed, 50_000)).toHaveLength(50_000);
  });

  it('skips entries while too many bytes are being stored', async () => {
    await using setup = startPartition();
    const moment = await setup.moment();
    const body = 'a'.repeat(1_000_000);
    for (let i = 0; i < 24; i += 1) {
      setup.store.put({ owner: setup.owner, path: `/${i}` }, entryOf(moment, [], body));
    }
    await expect.poll(async () => (await setup.keys('entry:')).length).toBe(17); // The first 16 MiB, and what exceeds them.
    await setup.put('/later', []);
    expect(await setup.version('/later')).toBeDefined();
    expect(await setup.version('/20')).toBeUndefined();
  });

  it('keeps an entry whose read started later than the one that ends later', async () => {
    await using setup = startPartition();
    const { put, version, write } = setup;
    await put('/a', ['a'], { version: 'later' });
    await put('/a', ['a'], { version: 'earlier', ageMs: 10_000 });
    expect(await version('/a')).toEqual({ version: 'later' });
    await write(['a']);
    await put('/a', ['a'], { version: 'valid', ageMs: 20_000 });
    expect(await version('/a')).toEqual({ version: 'valid' });
  });

  it('loses all entries of a partition whose state was evicted, or is foreign', async () => {
    await using setup = startPartition();
    const { put, version, moment } = setup;
    for (const lose of [
      (key: string) => redis.command('DEL', key),
      (key: string) => redis.command('SET', key, 'foreign'),
      (key: string) => redis.command('HSET', key, 'sequence', 'x'),
      (key: string) => redis.command('HDEL', key, 'epoch'),
    ]) {
      await put('/a', ['a']);
      const before = await moment();
      const states = await setup.keys('state:');
      await Promise.all(states.map(lose));
      expect(await version('/a')).toBeUndefined();
      await put('/a', ['a'], { version: 'new' });
      await put('/a', ['a'], { moment: before });
      expect(await version('/a')).toEqual({ version: 'new' });
    }
    await put('/a', ['a']);
    const [generation = ''] = await setup.keys('generation');
    await redis.command('DEL', generation);
    expect(await version('/a')).toBeUndefined();
    await put('/a', ['a']);
    expect(await version('/a')).toBeDefined();
    expect(setup.log).toEqual([]);
  });

  it('keeps the state of a partition small, also while very many things are being written', async () => {
    await using setup = startPartition();
    const { begin, put, version, write } = setup;
    const things = (name: string, length: number) => Array.from({ length }, (_, i) => `${name}:${i}`);
    const fields = () => redis.command('HLEN', setup.names.state);
    await put('/a', ['a']);
    await write(things('x', 4_000));
    expect(await version('/a')).toBeDefined();
    await write(things('y', 1_000));
    expect(await version('/a')).toBeUndefined();
    expect(await fields()).toBeLessThan(2_100);
    await begin(things('z', 5_000));
    expect(await fields()).toBeLessThan(100);
    await put('/a', ['a']);
    expect(await version('/a')).toBeUndefined(); // The partition is held until the writes end.
    expect(Number(await redis.command('HGET', setup.names.state, 'held'))).toBeGreaterThan(Date.now() + 30_000);
    await redis.command('HSET', setup.names.state, 'held', '1');
    await put('/a', ['a']);
    expect(await version('/a')).toBeDefined();
  });

  it('works for a user who may run only the commands that its message names', async () => {
    await redis.command('ACL', 'SETUSER', 'limited', 'on', '>pass', '~test-acl:*', '+@connection');
    const url = redis.url.replace('redis://', 'redis://limited:pass@');
    await using denied = createRedisCache(url, { prefix: 'test-acl:' });
    await expect.poll(() => denied.log).toMatchObject([{ reason: 'NOPERM' }]);
    const commands = /run the commands (.+?)\./.exec(denied.log[0]?.msg ?? '')?.[1]?.split(/, | and /) ?? [];
    await redis.command('ACL', 'SETUSER', 'limited', ...commands.map((name) => `+${name.toLowerCase()}`));
    await using setup = createRedisCache(url, { prefix: 'test-acl:' });
    const { put, version, write, drop, begin } = partitionOf(setup.store);
    await put('/a', ['a']);
    await put('/a', ['a'], { version: 2 });
    expect(await version('/a')).toEqual({ version: 2 });
    await begin(['c']);
    await write(['b'], 'unknown');
    await write(['d']);
    await drop();
    expect(await version('/a')).toBeUndefined();
    expect(setup.log).toEqual([]);
  });
});
