import { setImmediate as immediate } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createStoreState } from '../../src/redis/redis.ts';
import { read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { createLimiter, replyOk, startListener } from '../support/redis-limiter.ts';
import { createRedisCache } from '../support/test-cache.ts';

guards('src/lib/shared-resources.ts', 'createSharedResources.open');
guards('src/redis/redis.ts', 'describeStore');
guards('src/redis/connection/redis-connection.ts', 'describeReply');

/** Keeps the event loop from doing anything else, without CPU time, which other tests need. */
const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

describe.runIf(hasRedis)(`a process whose event loop is late${redisOnly}`, () => {
  it.each([
    ['before a command is sent', 0],
    ['after a command was sent', 1],
    ['after a command was sent and answered', 20],
  ])('gets the result of Redis if it was blocked %s', async (_, turns) => {
    await using redis = await startRedis();
    await using setup = createLimiter(redis.url, { timeoutMs: 1_000 });
    await expect.poll(() => setup.limiter.status().isUp).toBe(true);
    const taking = setup.take();
    for (let turn = 0; turn < turns; turn += 1) {
      await immediate();
    }
    block(1_500);
    expect(await taking).toMatchObject({ remaining: 99 });
    expect(setup.limiter.status().fallbacks).toBe(0);
    await expect.poll(() => redis.command('KEYS', '*')).toHaveLength(1); // Once that of the trial has expired.
  });

  it('gets the result of a Redis that replies soon after', async () => {
    await using redis = await startRedis();
    await using setup = createLimiter(redis.url, { timeoutMs: 1_000 });
    await expect.poll(() => setup.limiter.status().isUp).toBe(true);
    await redis.command('CLIENT', 'PAUSE', '1600', 'ALL');
    const taking = setup.take();
    block(1_500);
    expect(await taking).toMatchObject({ remaining: 99 });
    expect(setup.limiter.status().fallbacks).toBe(0);
  });
});

describe('a Redis that', () => {
  it('closes the connection of a client without TLS is reported without a request, with a hint', async () => {
    await using listener = await startListener((socket) => socket.destroy());
    await using setup = createLimiter(listener.url);
    await expect.poll(setup.messages).toHaveLength(1);
    expect(setup.messages()[0]).toMatch(
      /^Redis can't be used: .+; if it requires TLS, the URL must start with rediss:\/\//,
    );
  });

  it("doesn't respond to TLS is reported without a request, with a hint", async () => {
    await using listener = await startListener((socket) => void socket.write('-ERR unknown command\r\n'));
    await using setup = createLimiter(listener.url.replace('redis:', 'rediss:'));
    await expect.poll(setup.messages).toHaveLength(1);
    expect(setup.messages()[0]).toMatch(
      /^Redis can't be used: .+; if it doesn't use TLS, the URL must start with redis:\/\//,
    );
  });

  it.runIf(hasRedis)(
    `lacks the database, a password or a permission is reported without a request${redisOnly}`,
    async () => {
      await using redis = await startRedis();
      await redis.command('ACL', 'SETUSER', 'limited', 'on', '>pass-4711', '~*', '+@connection');
      const address = redis.url.replace('redis://', '');
      for (const [url, reason] of [
        [`redis://${address}/99`, 'DATABASE'],
        [`redis://:pass-4711@${address}`, 'NO_PASSWORD'],
        [`redis://limited:pass-4711@${address}`, 'NOPERM'],
      ] as const) {
        await using setup = createLimiter(url, { timeoutMs: 20_000 });
        await setup.limiter.connected();
        await expect.poll(() => setup.log).toMatchObject([{ level: 50, reason, msg: /^Redis can't be used: / }]);
        expect(setup.log).toHaveLength(1);
        expect(JSON.stringify(setup.log)).not.toContain('4711');
      }
    },
  );
});

describe('R54: a Valkey 8 that is', () => {
  it.each([
    ['a cluster', 'cluster', 'Redis Cluster'],
    ['a Sentinel', 'sentinel', 'Sentinel'],
  ])('%s is not supported', async (_, mode, name) => {
    const info = `# Server\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nserver_mode:${mode}\r\n`;
    await using listener = await startListener((socket, chunk) => {
      for (const command of String(chunk).split(/(?=^\*)/m)) {
        socket.write(command.includes('INFO') ? `$${info.length}\r\n${info}\r\n` : replyOk(Buffer.from(command)));
      }
    });
    await using setup = createLimiter(listener.url, { timeoutMs: 20_000 });
    await setup.limiter.connected();
    expect(setup.limiter.status().failure).toMatchObject({
      code: 'NOT_SUPPORTED',
      cause: expect.stringContaining(name),
    });
  });
});

describe.runIf(hasRedis)(`a user of Redis who lacks permission${redisOnly}`, () => {
  it.each([
    ['for the keys is told their prefix', ['~other:*', '+@all'], 'use all keys that begin with "acme:limit:".'],
    [
      'for commands of a script is told all commands',
      ['~*', '+@connection', '+eval', '+evalsha'],
      'run the commands EVAL, ',
    ],
  ])('%s', async (_, rules, cause) => {
    await using redis = await startRedis();
    await redis.command('ACL', 'SETUSER', 'limited', 'on', '>pass-4711', ...rules);
    const url = redis.url.replace('redis://', 'redis://limited:pass-4711@');
    await using setup = createLimiter(url, { prefix: 'acme:limit:', timeoutMs: 20_000 });
    await expect.poll(() => setup.log).toMatchObject([{ level: 50, reason: 'NOPERM' }]);
    expect(setup.messages()[0]).toContain(`the user must be allowed to ${cause}`);
  });
});

it.runIf(hasRedis)(`a user of Redis with the documented permissions is enough${redisOnly}`, async () => {
  await using redis = await startRedis();
  const [, words = ''] = /^ACL SETUSER (.+)$/m.exec(read('docs/production.md')) ?? [];
  await redis.command('ACL', 'SETUSER', ...words.split(' '));
  const url = redis.url.replace('redis://', 'redis://notigraph:PASSWORD@');
  await using limits = createLimiter(url, { prefix: 'notigraph-eu:limit:', timeoutMs: 20_000 });
  await using cache = createRedisCache(url, { prefix: 'notigraph-eu:cache:' });
  expect(await limits.take()).toMatchObject({ remaining: 99 });
  await cache.store.connected();
  expect([limits.log, cache.log, cache.store.stats().problem]).toEqual([[], [], undefined]);
});

it.runIf(hasRedis)(`a gateway that ends leaves no connection to Redis${redisOnly}`, async () => {
  await using server = await startRedis();
  const connections = async () => String(await server.command('CLIENT', 'LIST')).match(/^id=/gm)?.length;
  const redis = { url: server.url };
  const gateway = await startGateway({
    upstream: 'http://127.0.0.1:9',
    rateLimits: { store: { redis } },
    cache: { store: { redis }, secret: 'an-obvious-test-secret-of-32-characters' },
  });
  await expect.poll(connections).toBe(3); // With that of the command itself.
  await gateway[Symbol.asyncDispose]();
  await expect.poll(connections).toBe(1);
});

it('a Redis that accepts the first connection, and never replies, is the reason in /readyz from the start', async () => {
  await using listener = await startListener(() => {});
  const redis = { url: listener.url };
  await using gateway = await startGateway({
    upstream: 'http://127.0.0.1:9',
    rateLimits: { store: { redis } },
    cache: { store: { redis }, secret: 'an-obvious-test-secret-of-32-characters' },
  });
  await expect.poll(() => listener.connections()).toBe(2);
  const ready = await fetch(new URL('/readyz', gateway.url));
  const reason = 'Redis is unavailable (not connected yet)';
  expect([ready.status, await ready.text()]).toEqual([200, `ok\nrate limits: ${reason}\ncache: ${reason}\n`]);
  expect(await gateway.metrics()).toContain('notigraph_cache_store_up 0');
});

it('a store that goes up and down all the time logs two lines in 30 seconds, and then their number', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const log: unknown[] = [];
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) });
  using state = createStoreState(logger, { whileDown: 'it is down', onceUp: 'It is up.' });
  state.up();
  for (let i = 0; i < 10; i += 1) {
    state.down({ code: 'ECONNRESET' });
    vi.advanceTimersByTime(400);
    state.up();
    vi.advanceTimersByTime(400);
  }
  const [unavailable, available] = [{ reason: 'ECONNRESET', level: 40 }, { level: 30 }];
  expect(log).toMatchObject([unavailable, available]);
  expect(state.status()).toEqual({ isUp: true, failure: undefined, fallbacks: 10 });
  vi.advanceTimersByTime(30_000);
  expect(log).toMatchObject([unavailable, available, { ...available, changes: 18 }]);
  state.down({ code: 'ECONNRESET' });
  expect(log).toMatchObject([unavailable, available, available, unavailable]);
});
