import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../support/redis.ts';
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

type Change = (redis: TestRedis) => unknown;

/** Returns the change of the memory that Redis may use. */
const memory =
  (bytes: string): Change =>
  (redis) =>
    redis.command('CONFIG', 'SET', 'maxmemory', bytes);

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

  /** Ways in which Redis fails and recovers, the reason in the log, and what remains after one call before and one after that. */
  const FAILURES: Record<string, [fail: Change, recover: Change, reason: unknown, remaining: unknown]> = {
    'is gone': [(redis) => redis.kill(), (redis) => redis.start(), expect.any(String), 99], // It has restarted without data.
    'returns errors': [memory('1'), memory('0'), 'OOM', 98],
    'does not respond': [(redis) => redis.pause(), (redis) => redis.resume(), 'TIMEOUT', expect.any(Number)], // It may count what it got meanwhile.
  };

  it.runIf(hasRedis).each(Object.entries(FAILURES))(
    'counts locally while Redis %s, logs that once, and then uses it again',
    async (_, [fail, recover, reason, remaining]) => {
      await using redis = await startRedis();
      await using setup = createLimiter(redis.url, { timeoutMs: 1_000 });
      expect(await setup.take()).toMatchObject({ remaining: 99 });
      await fail(redis);
      const results = await Promise.all(Array.from({ length: 120 }, () => setup.take()));
      expect(results.filter(({ isAllowed }) => isAllowed)).toHaveLength(100);
      expect(await setup.limiter.charge('a', HOURLY, 1)).toMatchObject({ isAllowed: true, remaining: 0 });
      expect(setup.log).toMatchObject([{ msg: UNAVAILABLE, reason }]);
      await recover(redis);
      await expect.poll(() => setup.take('b').then(setup.messages), SLOW_POLL).toEqual([UNAVAILABLE, AVAILABLE_AGAIN]);
      expect(await setup.take()).toMatchObject({ remaining });
      await expect.poll(() => redis.command('KEYS', '*'), SLOW_POLL).toHaveLength(2); // Of `a` and `b`, once that of the trial has expired.
    },
  );
});

describe('a rate limiter whose Redis', () => {
  it('accepts connections but never responds waits for a single timeout', async () => {
    await using listener = await startListener(() => {});
    await using setup = createLimiter(listener.url, { timeoutMs: 2_000 });
    expect(await timed(() => Promise.all(Array.from({ length: 50 }, () => setup.take())))).toBeLessThan(3_900);
    expect(await timed(() => Promise.all(Array.from({ length: 50 }, () => setup.take())))).toBeLessThan(1_900);
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
