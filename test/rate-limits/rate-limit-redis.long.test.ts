import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { createLimiter, HOURLY, replyOk, startListener } from '../support/redis-limiter.ts';

const UNAVAILABLE = 'Redis is unavailable. Until it is back, each process enforces rate limits on its own.';
const unusable = (cause: string) =>
  `Redis can't be used: ${cause}. Until this is fixed, each process enforces rate limits on its own.`;
const AVAILABLE_AGAIN = 'Redis is available again. Rate limits are shared.';

/** Returns how long the work takes, in milliseconds. */
async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const SLOW_POLL = { timeout: 15_000, interval: 20 };

describe(`a rate limiter in Redis${redisOnly}`, () => {
  it.runIf(hasRedis)('stores no identities in plain text, and nothing for longer than necessary', async () => {
    await using redis = await startRedis();
    await using setup = createLimiter(redis.url, { prefix: 'test:', timeoutMs: 10_000 });
    await setup.take('ApiKey canary-4711');
    await setup.limiter.charge('full', HOURLY, -1);
    const keys = await redis.command('KEYS', '*');
    expect(keys).toEqual([expect.stringMatching(/^test:[\w-]{43}$/)]);
    const [key = ''] = Array.isArray(keys) ? keys : [];
    expect(await redis.command('PTTL', key)).toBeLessThanOrEqual(3_600_000);
    expect(await redis.command('PTTL', key)).toBeGreaterThan(3_500_000);
    expect(await redis.command('GET', key)).toMatch(/^\d{13}(\.\d+)?$/);
  });

  it.runIf(hasRedis)('continues after Redis has lost its script', async () => {
    await using redis = await startRedis();
    await using setup = createLimiter(redis.url, { timeoutMs: 10_000 });
    await setup.take();
    await redis.command('SCRIPT', 'FLUSH', 'SYNC');
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 98 });
    expect(setup.log).toEqual([]);
  });

  it.runIf(hasRedis)(
    'counts locally while Redis is unavailable, logs that once, and reconnects on its own',
    async () => {
      await using redis = await startRedis();
      await using setup = createLimiter(redis.url, { timeoutMs: 2_000 });
      expect(await setup.take()).toMatchObject({ remaining: 99 });
      expect(await setup.take()).toMatchObject({ remaining: 98 });

      await redis.kill();
      const results = await Promise.all(Array.from({ length: 120 }, () => setup.take()));
      expect(results.filter(({ isAllowed }) => isAllowed)).toHaveLength(100);
      expect(await setup.limiter.charge('a', HOURLY, 1)).toMatchObject({ isAllowed: true, remaining: 0 });
      expect(setup.messages()).toEqual([UNAVAILABLE]);

      await redis.start();
      await expect.poll(() => setup.take('b').then(setup.messages), SLOW_POLL).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
      expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 }); // Redis has restarted without data.
      await expect.poll(() => redis.command('KEYS', '*'), SLOW_POLL).toHaveLength(2); // Of `a` and `b`, once that of the trial has expired.
    },
  );

  it.runIf(hasRedis)('starts without Redis and uses it once it is available', async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using setup = createLimiter(redis.url, { timeoutMs: 50 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 98 });
    expect(setup.messages()).toEqual([UNAVAILABLE]);
    await redis.start();
    await expect.poll(() => setup.take('b').then(setup.messages), SLOW_POLL).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
    expect(await setup.take()).toMatchObject({ remaining: 99 });
  });

  it.runIf(hasRedis)('counts locally if the password is wrong, and logs no password', async () => {
    await using redis = await startRedis({ password: 'right-0815' });
    const url = redis.url.replace('right-0815', 'wrong-4711');
    await using setup = createLimiter(url, { timeoutMs: 1_000 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(setup.log).toMatchObject([{ msg: unusable('the user name or password is wrong'), reason: 'WRONGPASS' }]);
    await using without = createLimiter(redis.url.replace(':right-0815@', ''), { timeoutMs: 10_000 });
    expect(await without.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(without.log).toMatchObject([{ msg: unusable('it requires a password'), reason: 'NOAUTH' }]);
    await using right = createLimiter(redis.url, { timeoutMs: 10_000 });
    expect(await right.take()).toMatchObject({ remaining: 99 });
    expect(right.log).toEqual([]);
    expect(JSON.stringify([setup.log, without.log])).not.toMatch(/4711|0815|redis:/);
  });

  it.runIf(hasRedis)('counts locally while Redis returns errors', async () => {
    await using redis = await startRedis();
    await using setup = createLimiter(redis.url, { timeoutMs: 1_000 });
    await setup.take();
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(setup.log).toMatchObject([{ msg: UNAVAILABLE, reason: 'OOM' }]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => setup.take('b').then(setup.messages), SLOW_POLL).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
    expect(await setup.take()).toMatchObject({ remaining: 98 });
  });

  it.runIf(hasRedis)('counts locally while Redis does not respond', async () => {
    await using redis = await startRedis();
    await using shortTimeout = createLimiter(redis.url, { timeoutMs: 500 });
    await expect.poll(() => shortTimeout.take('b').then(() => redis.command('DBSIZE')), SLOW_POLL).toBe(1);
    const before = shortTimeout.log.length;
    redis.pause();
    expect(await shortTimeout.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(shortTimeout.log.slice(before)).toMatchObject([{ msg: UNAVAILABLE, reason: 'TIMEOUT' }]);
    redis.resume();
    await expect
      .poll(() => shortTimeout.take('b').then(() => shortTimeout.messages().slice(before)), SLOW_POLL)
      .toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
  });
});

describe('a rate limiter whose Redis', () => {
  it('accepts connections but never responds waits for a single timeout', async () => {
    await using listener = await startListener(() => {});
    await using setup = createLimiter(listener.url, { timeoutMs: 3_000 });
    expect(await timed(() => Promise.all(Array.from({ length: 50 }, () => setup.take())))).toBeLessThan(5_900);
    expect(await timed(() => Promise.all(Array.from({ length: 50 }, () => setup.take())))).toBeLessThan(2_900);
    expect(await setup.take()).toMatchObject({ isAllowed: false });
    expect(setup.messages()).toEqual([UNAVAILABLE]);
  });

  it('hangs can be disposed immediately and leaves no connection', async () => {
    await using listener = await startListener(() => {});
    const setup = createLimiter(listener.url, { timeoutMs: 20_000 });
    await expect.poll(listener.open, SLOW_POLL).toBe(1);
    const waiting = setup.take();
    expect(await timed(setup.limiter[Symbol.asyncDispose])).toBeLessThan(5_000);
    await expect.poll(listener.open, SLOW_POLL).toBe(0);
    await setup.limiter[Symbol.asyncDispose]();
    expect(await timed(() => waiting)).toBeLessThan(5_000);
    expect(await waiting).toMatchObject({ isAllowed: true });
    expect(setup.log).toEqual([]);
  });

  it('is being connected can be disposed and leaves no connection', async () => {
    await using listener = await startListener(() => {});
    const setup = createLimiter(listener.url);
    const disposed = Promise.withResolvers<void>();
    const close = () => disposed.resolve(setup.limiter[Symbol.asyncDispose]());
    subscribe('net.client.socket', close);
    await disposed.promise;
    unsubscribe('net.client.socket', close);
    expect(await setup.take()).toMatchObject({ isAllowed: true });
    expect(setup.log).toEqual([]);
    await expect.poll(listener.connections).toBe(1);
    await expect.poll(listener.open, SLOW_POLL).toBe(0);
  });

  it.each([
    ['HTTP/1.1 400 Bad Request\r\n\r\n', unusable("it doesn't respond like Redis")],
    ['*1\r\n', UNAVAILABLE],
  ])('responds %j, because it is not Redis, is ignored', async (answer, message) => {
    await using listener = await startListener((socket) => void socket.write(answer));
    await using setup = createLimiter(listener.url, { timeoutMs: 300 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 98 });
    expect(setup.messages()).toEqual([message]);
  });

  it('responds OK to every command is ignored', async () => {
    await using listener = await startListener((socket, chunk) => void socket.write(replyOk(chunk)));
    await using setup = createLimiter(listener.url, { timeoutMs: 5_000 });
    expect(await setup.take()).toMatchObject({ isAllowed: true, remaining: 99 });
    expect(setup.log).toMatchObject([{ msg: unusable("it doesn't respond like Redis"), reason: 'NOT_REDIS' }]);
  });

  it.each(['', 'http://localhost:6379', 'redis://:secret-4711@host:port', 'redis://h/secret-4711'])(
    'has the URL %j is rejected, and the message does not quote it',
    (url) => {
      expect(() => createLimiter(url)).toThrow(/^the URL of Redis must /);
      expect(() => createLimiter(url)).not.toThrow(/4711|localhost/);
    },
  );
});
