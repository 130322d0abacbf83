import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { allowanceOf, bucketOf, waitFor } from './bucket.ts';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';
import type { Allowance, RateLimit, RateLimiter } from './rate-limiter.ts';
import { openRedis } from './redis-connection.ts';

export interface RedisRateLimiterOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` with TLS. */
  url: string;
  /** Is told, without the address, when Redis goes away and when it is back. */
  logger: Logger;
  /** Counts while Redis is away; is disposed with this one. @default one in memory */
  fallback?: RateLimiter;
  /** Begins every key; the rest of it is a digest of the identity. @default 'notigraph:limit:' */
  prefix?: string;
  /** The longest time that an operation waits for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
}

type Change = 'take' | 'charge';

/** While Redis is away it is tried with one of the changes, so often at most. */
const TRY_EVERY_MS = 500;

/**
 * Counts in Redis, so that all processes and replicas have one limit together. A Redis that is away, slow or failing costs one time-out and
 * then nothing: until it answers again, `fallback` counts for this process alone. Throws a `TypeError` where the address is none.
 */
export function createRedisRateLimiter({
  url,
  logger,
  fallback = createMemoryRateLimiter(),
  prefix = 'notigraph:limit:',
  timeoutMs = 100,
}: RedisRateLimiterOptions): RateLimiter {
  const redis = openRedis(url);
  let isAway = false;
  let isDisposed = false;
  let nextTryAt = 0;

  /** Rejects where there is no connection, no answer in time, or an error for an answer. */
  async function ask(change: Change, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    const bucket = bucketOf(limit);
    const { msPerCall, emptyMs, deepestMs } = bucket;
    const args = [cost * msPerCall, emptyMs, deepestMs, change === 'take' ? 1 : 0].map(String);
    const run = () => redis.run(prefix + hash('sha256', key, 'base64url'), args);
    const whenOpened = async () => {
      await redis.opened;
      if (isAway) {
        throw TIME_IS_OVER; // It has been counted elsewhere.
      }
      return run();
    };
    const { isGranted, missingMs } = await inTime(redis.isReady() ? run() : whenOpened(), timeoutMs);
    return isGranted
      ? allowanceOf(bucket, limit, missingMs)
      : allowanceOf(bucket, limit, missingMs, waitFor(bucket, missingMs, cost));
  }

  function leave(failure: unknown): void {
    nextTryAt = performance.now() + Math.max(TRY_EVERY_MS, timeoutMs);
    if (!isAway && !isDisposed) {
      isAway = true;
      const reason = failure === TIME_IS_OVER && redis.isReady() ? 'TIMEOUT' : redis.trouble();
      logger.warn({ reason }, 'Redis does not answer: until it does, every process limits its callers by itself.');
    }
  }

  function comeBack(): void {
    if (isAway && !isDisposed) {
      isAway = false;
      logger.info('Redis answers again: limits are shared again.');
    }
  }

  async function count(change: Change, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    if (!isAway && !isDisposed) {
      try {
        return await ask(change, key, limit, cost);
      } catch (failure) {
        leave(failure);
      }
    } else if (redis.isReady() && performance.now() >= nextTryAt) {
      nextTryAt = Number.POSITIVE_INFINITY; // One at a time.
      ask(change, key, limit, cost).then(comeBack, leave); // Nobody waits for it.
    }
    return fallback[change](key, limit, cost);
  }

  async function dispose(): Promise<void> {
    isDisposed = true;
    redis.close();
    await fallback.dispose();
  }

  return {
    take: (key, limit, cost) => count('take', key, limit, cost),
    charge: (key, limit, cost) => count('charge', key, limit, cost),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

const TIME_IS_OVER = Symbol('time is over');

/** Settles with the promise, or rejects with TIME_IS_OVER. */
function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(TIME_IS_OVER), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
