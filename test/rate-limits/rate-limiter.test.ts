import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createMemoryRateLimiter } from '../../src/rate-limits/memory-rate-limiter.ts';
import type { RateLimiter } from '../../src/rate-limits/rate-limiter.ts';
import { createRedisRateLimiter } from '../../src/rate-limits/redis-rate-limiter.ts';
import type { RateLimit } from '../../src/settings/rate-limits.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';

/** Limit that refills one call per hour, so that nothing is refilled during a test. */
const HOURLY: RateLimit = { calls: 1, perSeconds: 3_600, burst: 3 };

/** Limiter under test, with control over time. */
interface LimiterSetup extends AsyncDisposable {
  limiter: RateLimiter;
  /** Second limiter with the same store, if the store can be shared. */
  sharedLimiter?: RateLimiter;
  /** Advances or waits for the time. */
  pass(milliseconds: number): Promise<void>;
}

const silent = pino({ level: 'silent' });

const STORES: [name: string, isAvailable: boolean, start: () => Promise<LimiterSetup>][] = [
  [
    'in memory',
    true,
    async () => {
      let time = 0;
      const limiter = createMemoryRateLimiter({ now: () => time });
      const pass = async (milliseconds: number) => {
        time += milliseconds;
      };
      return { limiter, pass, [Symbol.asyncDispose]: () => limiter.dispose() };
    },
  ],
  [
    `in Redis${redisOnly}`,
    hasRedis,
    async () => {
      const redis = await startRedis();
      const create = () => createRedisRateLimiter({ url: redis.url, logger: silent, timeoutMs: 20_000 });
      const [limiter, sharedLimiter] = [create(), create()];
      return {
        limiter,
        sharedLimiter,
        pass: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
        async [Symbol.asyncDispose]() {
          await limiter.dispose();
          await sharedLimiter.dispose();
          await redis[Symbol.asyncDispose]();
        },
      };
    },
  ],
];

describe.each(STORES)('a rate limiter %s', (_, isAvailable, start) => {
  it.runIf(isAvailable)('permits saved-up calls and then rejects', async () => {
    await using setup = await start();
    for (const remaining of [2, 1, 0]) {
      expect(await setup.limiter.take('a', HOURLY, 1)).toMatchObject({ isAllowed: true, limit: 3, remaining });
    }
    const refused = await setup.limiter.take('a', HOURLY, 1);
    expect(refused).toMatchObject({ isAllowed: false, limit: 3, remaining: 0 });
    expect(refused.retryAfterSeconds).toBeGreaterThan(3_500);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(3_600);
    expect(refused.resetSeconds).toBeGreaterThan(3 * 3_600 - 100);
    expect(refused.resetSeconds).toBeLessThanOrEqual(3 * 3_600);
  });

  it.runIf(isAvailable)('is not charged for a rejection', async () => {
    await using setup = await start();
    for (let i = 0; i < 20; i += 1) {
      await setup.limiter.take('a', HOURLY, 1);
    }
    const { resetSeconds } = await setup.limiter.take('a', HOURLY, 1);
    expect(resetSeconds).toBeLessThanOrEqual(3 * 3_600);
  });

  it.runIf(isAvailable)('saves up the calls of one window by default', async () => {
    await using setup = await start();
    expect(await setup.limiter.take('a', { calls: 5, perSeconds: 3_600 }, 5)).toMatchObject({ limit: 5, remaining: 0 });
    expect(await setup.limiter.take('a', { calls: 5, perSeconds: 3_600 }, 1)).toMatchObject({ isAllowed: false });
  });

  it.runIf(isAvailable)('refills, but never above the burst', async () => {
    await using setup = await start();
    const limit = { calls: 20, perSeconds: 1, burst: 2 };
    expect(await setup.limiter.take('a', limit, 2)).toMatchObject({ isAllowed: true });
    await setup.pass(60);
    expect(await setup.limiter.take('a', limit, 1)).toMatchObject({ isAllowed: true });
    await setup.pass(1_000);
    expect(await setup.limiter.take('a', limit, 0)).toMatchObject({ remaining: 2, resetSeconds: 0 });
  });

  it.runIf(isAvailable)('permits calls again after the reported wait', async () => {
    await using setup = await start();
    const limit = { calls: 1, perSeconds: 3 }; // Not less, because the second call must follow within this time, even on a busy machine.
    await setup.limiter.take('a', limit, 1);
    const { isAllowed, retryAfterSeconds = 0 } = await setup.limiter.take('a', limit, 1);
    expect(isAllowed).toBe(false);
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThanOrEqual(3);
    await setup.pass(retryAfterSeconds * 1_000 + 5);
    expect(await setup.limiter.take('a', limit, 1)).toMatchObject({ isAllowed: true });
  });

  it.runIf(isAvailable)('lets an expensive operation go into debt, which is paid off before the next one', async () => {
    await using setup = await start();
    await setup.limiter.take('a', HOURLY, 1);
    expect(await setup.limiter.charge('a', HOURLY, 4)).toMatchObject({ isAllowed: true, remaining: 0 });
    const { isAllowed, retryAfterSeconds } = await setup.limiter.take('a', HOURLY, 1);
    expect(isAllowed).toBe(false);
    expect(retryAfterSeconds).toBeGreaterThan(3 * 3_600 - 100); // Two calls are owed and one is requested.
    expect(retryAfterSeconds).toBeLessThanOrEqual(3 * 3_600);
  });

  it.runIf(isAvailable)('limits the debt to ten windows', async () => {
    await using setup = await start();
    for (let i = 0; i < 10; i += 1) {
      await setup.limiter.charge('a', HOURLY, 1_000_000);
    }
    const { retryAfterSeconds } = await setup.limiter.take('a', HOURLY, 1);
    expect(retryAfterSeconds).toBeGreaterThan(11 * 3_600 - 100);
    expect(retryAfterSeconds).toBeLessThanOrEqual(11 * 3_600);
  });

  it.runIf(isAvailable)('refunds unused calls, but never above the burst', async () => {
    await using setup = await start();
    await setup.limiter.take('a', HOURLY, 2);
    expect(await setup.limiter.charge('a', HOURLY, -1)).toMatchObject({ remaining: 2 });
    expect(await setup.limiter.charge('a', HOURLY, -50)).toMatchObject({ remaining: 3, resetSeconds: 0 });
    expect(await setup.limiter.charge('never seen', HOURLY, -1)).toMatchObject({ remaining: 3 });
  });

  it.runIf(isAvailable)('permits a cost above the burst only if nothing was used', async () => {
    await using setup = await start();
    expect(await setup.limiter.take('a', HOURLY, 4)).toMatchObject({ isAllowed: true, remaining: 0 });
    await setup.limiter.take('b', HOURLY, 1);
    expect(await setup.limiter.take('b', HOURLY, 4)).toMatchObject({ isAllowed: false });
  });

  it.runIf(isAvailable)('counts each identity separately', async () => {
    await using setup = await start();
    await setup.limiter.take('a', HOURLY, 3);
    expect(await setup.limiter.take('a', HOURLY, 1)).toMatchObject({ isAllowed: false });
    expect(await setup.limiter.take('b', HOURLY, 1)).toMatchObject({ isAllowed: true, remaining: 2 });
    expect(await setup.limiter.take('', HOURLY, 1)).toMatchObject({ isAllowed: true, remaining: 2 });
  });

  it.runIf(isAvailable)('enforces a limit that does not divide evenly', async () => {
    await using setup = await start();
    const limit = { calls: 7, perSeconds: 3_600, burst: 7 };
    const granted = [];
    for (let i = 0; i < 9; i += 1) {
      granted.push((await setup.limiter.take('a', limit, 1)).isAllowed);
    }
    expect(granted).toEqual([true, true, true, true, true, true, true, false, false]);
  });

  it.runIf(isAvailable)(
    'never permits more than the limit to concurrent calls of two limiters with one store',
    async () => {
      await using setup = await start();
      const limit = { calls: 1, perSeconds: 3_600, burst: 50 };
      const limiters = [setup.limiter, setup.sharedLimiter ?? setup.limiter];
      const answers = await Promise.all(
        Array.from({ length: 200 }, async (_, i) => limiters[i % 2]?.take('shared', limit, 1)),
      );
      expect(answers.filter((answer) => answer?.isAllowed)).toHaveLength(50);
    },
  );
});

describe('a rate limiter in memory', () => {
  function startClock(maxKeys?: number) {
    let time = 5_000;
    const limiter = createMemoryRateLimiter({ now: () => time, ...(maxKeys !== undefined && { maxKeys }) });
    const pass = (milliseconds: number) => {
      time += milliseconds;
    };
    return { limiter, pass };
  }

  it('refills steadily, one call at a time', () => {
    const { limiter, pass } = startClock();
    const limit = { calls: 10, perSeconds: 60, burst: 20 };
    expect(limiter.take('a', limit, 20)).toEqual({ isAllowed: true, limit: 20, remaining: 0, resetSeconds: 120 });
    pass(5_999);
    expect(limiter.take('a', limit, 1)).toEqual({
      isAllowed: false,
      limit: 20,
      remaining: 0,
      resetSeconds: 115,
      retryAfterSeconds: 1,
    });
    pass(1);
    expect(limiter.take('a', limit, 1)).toEqual({ isAllowed: true, limit: 20, remaining: 0, resetSeconds: 120 });
    pass(18_000);
    expect(limiter.take('a', limit, 1)).toMatchObject({ isAllowed: true, remaining: 2 });
  });

  it('returns results synchronously', () => {
    const { limiter } = startClock();
    expect(limiter.take('a', HOURLY, 1).isAllowed).toBe(true);
  });

  it('permits exactly the limit over a long time', () => {
    const { limiter, pass } = startClock();
    const limit = { calls: 7, perSeconds: 13, burst: 3 };
    let granted = 0;
    for (let i = 0; i < 130_000; i += 1) {
      pass(10);
      granted += limiter.take('a', limit, 1).isAllowed ? 1 : 0;
    }
    expect(granted).toBeGreaterThanOrEqual(700);
    expect(granted).toBeLessThanOrEqual(703);
  });

  it('applies a changed limit', () => {
    const { limiter } = startClock();
    limiter.take('a', { calls: 10, perSeconds: 10 }, 10);
    expect(limiter.take('a', { calls: 10, perSeconds: 10, burst: 20 }, 1)).toMatchObject({ remaining: 9 });
    expect(limiter.take('a', { calls: 10, perSeconds: 10, burst: 1 }, 1)).toMatchObject({ isAllowed: false });
  });

  it('evicts the identities that have used least, not those in debt, in a flood of new identities', () => {
    const { limiter } = startClock(100);
    const slow = { calls: 600, perSeconds: 60, burst: 1_200 };
    limiter.charge('debtor', { calls: 10, perSeconds: 1 }, 20); // The debt is paid off before the other identities are refilled.
    limiter.take('busy', slow, 1_000);
    for (let i = 0; i < 10_000; i += 1) {
      limiter.take(`new ${i}`, slow, 50);
    }
    expect(limiter.take('debtor', { calls: 10, perSeconds: 1 }, 1)).toMatchObject({ isAllowed: false });
    expect(limiter.take('busy', slow, 1)).toMatchObject({ remaining: 199 });
  });

  it('remembers a bounded number of identities', () => {
    const { limiter } = startClock(100);
    const limit = { calls: 1, perSeconds: 3_600, burst: 1 };
    const count = (from: number, to: number) => {
      let refused = 0;
      for (let i = from; i < to; i += 1) {
        refused += limiter.take(`k${i}`, limit, 1).isAllowed ? 0 : 1;
      }
      return refused;
    };
    expect(count(0, 100_000)).toBe(0);
    expect(count(99_990, 100_000)).toBe(10); // The last ones are remembered,
    expect(count(0, 1_000)).toBe(0); // but not the first ones.
  });

  it('stays fast in a flood of new identities', () => {
    const { limiter } = startClock();
    const startedAt = performance.now();
    for (let i = 0; i < 300_000; i += 1) {
      limiter.take(`new ${i}`, HOURLY, 1);
    }
    expect(performance.now() - startedAt).toBeLessThan(10_000); // A scan of all identities per call would take minutes.
  });
});
