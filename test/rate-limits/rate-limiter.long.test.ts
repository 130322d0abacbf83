import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createMemoryRateLimiter,
  createRedisRateLimiter,
  type RateLimiter,
} from '../../src/rate-limits/rate-limiter.ts';
import type { RateLimit } from '../../src/settings/settings.ts';
import { guards } from '../support/guards.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

guards('src/rate-limits/rate-limiter.ts', 'createMemoryRateLimiter.entryOf');

/** Limit that refills one call per hour, so that nothing is refilled during a test. */
const HOURLY: RateLimit = { calls: 3, perSeconds: 3 * 3_600 };

/** Limiters with one store, and control over time. */
interface LimiterSetup extends AsyncDisposable {
  limiters: readonly RateLimiter[];
  /** Advances or waits for the time. */
  pass(milliseconds: number): Promise<unknown>;
}

function startMemory(): LimiterSetup {
  let time = 0;
  const limiter = createMemoryRateLimiter(() => time);
  const pass = async (milliseconds: number) => {
    time += milliseconds;
  };
  return { limiters: [limiter], pass, [Symbol.asyncDispose]: () => limiter[Symbol.asyncDispose]() };
}

async function startShared(): Promise<LimiterSetup> {
  const redis = await startRedis();
  const logger = pino({ level: 'silent' });
  const limiters = [1, 2].map(() =>
    createRedisRateLimiter({ url: redis.url, prefix: 'notigraph:limit:', logger, timeoutMs: 20_000 }),
  );
  return {
    limiters,
    pass: sleep,
    async [Symbol.asyncDispose]() {
      await Promise.all(limiters.map((limiter) => limiter[Symbol.asyncDispose]()));
      await redis[Symbol.asyncDispose]();
    },
  };
}

const STORES = { memory: startMemory, ...(hasRedis && { Redis: startShared }) };

describe.each(Object.entries(STORES))('a rate limiter in %s', (_, start) => {
  let setup: LimiterSetup;
  let keys = 0;

  beforeAll(async () => {
    setup = await start();
  });
  afterAll(() => setup[Symbol.asyncDispose]());

  /** Returns the operations of a new identity. */
  function use(limit: RateLimit = HOURLY) {
    keys += 1;
    const key = `key ${keys}`;
    const limiter = setup.limiters[0] ?? expect.unreachable();
    return {
      take: async (cost = 1) => limiter.take(key, limit, cost),
      charge: async (cost: number) => limiter.charge(key, limit, cost),
    };
  }

  it('permits saved-up calls and then rejects, without a charge', async () => {
    const { take } = use();
    for (const remaining of [2, 1, 0]) {
      expect(await take()).toMatchObject({ isAllowed: true, limit: 3, remaining });
    }
    for (let i = 0; i < 20; i += 1) {
      const refused = await take();
      expect(refused).toMatchObject({ isAllowed: false, limit: 3, remaining: 0 });
      expect(refused.retryAfterSeconds).toBeGreaterThan(3_500);
      expect(refused.retryAfterSeconds).toBeLessThanOrEqual(3_600);
      expect(refused.resetSeconds).toBeGreaterThan(3 * 3_600 - 100);
      expect(refused.resetSeconds).toBeLessThanOrEqual(3 * 3_600);
    }
  });

  it('refills, but never above the limit', async () => {
    const { take } = use({ calls: 2, perSeconds: 0.1 });
    expect(await take(2)).toMatchObject({ isAllowed: true });
    await setup.pass(60);
    expect(await take()).toMatchObject({ isAllowed: true });
    await setup.pass(1_000);
    expect(await take(0)).toMatchObject({ remaining: 2, resetSeconds: 0 });
  });

  it('lets an expensive operation go into debt, of ten windows at most', async () => {
    const { take, charge } = use();
    await take();
    expect(await charge(4)).toMatchObject({ isAllowed: true, remaining: 0 });
    const { isAllowed, retryAfterSeconds } = await take();
    expect(isAllowed).toBe(false);
    expect(retryAfterSeconds).toBeGreaterThan(3 * 3_600 - 100); // Two calls are owed and one is requested.
    expect(retryAfterSeconds).toBeLessThanOrEqual(3 * 3_600);
    await charge(1_000_000);
    const { retryAfterSeconds: longest } = await take();
    expect(longest).toBeGreaterThan(31 * 3_600 - 100);
    expect(longest).toBeLessThanOrEqual(31 * 3_600);
  });

  it('refunds unused calls, but never above the limit', async () => {
    const { take, charge } = use();
    await take(2);
    expect(await charge(-1)).toMatchObject({ remaining: 2 });
    expect(await charge(-50)).toMatchObject({ remaining: 3, resetSeconds: 0 });
    expect(await use().charge(-1)).toMatchObject({ remaining: 3 });
  });

  it('permits a cost above the limit only if nothing was used', async () => {
    expect(await use().take(4)).toMatchObject({ isAllowed: true, remaining: 0 });
    const { take } = use();
    await take();
    expect(await take(4)).toMatchObject({ isAllowed: false });
  });

  it('never permits more than the limit to concurrent calls of two limiters with one store', async () => {
    const limit = { calls: 50, perSeconds: 50 * 3_600 };
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => setup.limiters[i % setup.limiters.length]?.take('shared', limit, 1)),
    );
    expect(answers.filter((answer) => answer?.isAllowed)).toHaveLength(50);
  });
});

describe('a rate limiter in memory', () => {
  function startClock() {
    let time = 5_000;
    const limiter = createMemoryRateLimiter(() => time);
    const pass = (milliseconds: number) => {
      time += milliseconds;
    };
    return { limiter, pass };
  }

  it('refills steadily, one call at a time', () => {
    const { limiter, pass } = startClock();
    const limit = { calls: 20, perSeconds: 120 };
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
    const limit = { calls: 3, perSeconds: (3 * 13) / 7 };
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
    expect(limiter.take('a', { calls: 20, perSeconds: 20 }, 1)).toMatchObject({ remaining: 9 });
    expect(limiter.take('a', { calls: 1, perSeconds: 1 }, 1)).toMatchObject({ isAllowed: false });
  });

  it('evicts the identities that have used least, not those in debt, in a flood of new identities', () => {
    const { limiter } = startClock();
    const slow = { calls: 1_200, perSeconds: 120 };
    limiter.charge('debtor', { calls: 10, perSeconds: 1 }, 20); // The debt is paid off before the other identities are refilled.
    limiter.take('busy', slow, 1_000);
    for (let i = 0; i < 500_000; i += 1) {
      limiter.take(`new ${i}`, slow, 50);
    }
    expect(limiter.take('debtor', { calls: 10, perSeconds: 1 }, 1)).toMatchObject({ isAllowed: false });
    expect(limiter.take('busy', slow, 1)).toMatchObject({ remaining: 199 });
  });

  it('remembers a bounded number of identities', () => {
    const { limiter } = startClock();
    const limit = { calls: 1, perSeconds: 3_600 };
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
