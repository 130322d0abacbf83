import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { RateLimit } from '../settings/clients.ts';
import { allowanceOf, bucketOf, waitFor } from './bucket.ts';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';
import type { Allowance, RateLimiter } from './rate-limiter.ts';
import { openRedis } from './redis-connection.ts';

export interface RedisRateLimiterOptions {
  /** URL such as `redis://user:password@host:6379/0`, or `rediss://…` for TLS. */
  url: string;
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Rate limiter to use while Redis is unavailable. Disposed together with this one. @default a memory rate limiter */
  fallback?: RateLimiter;
  /** Prefix of keys; the rest of a key is a hash of the caller's id. @default 'notigraph:limit:' */
  prefix?: string;
  /** Maximum time an operation waits for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
}

type Change = 'take' | 'charge';

/** Minimum interval between attempts to use Redis while it is unavailable. */
const TRY_EVERY_MS = 500;

/**
 * Creates a rate limiter that counts in Redis, so that all processes and replicas share one limit. If Redis is unavailable, slow or failing,
 * operations wait for at most one timeout. From then on `fallback` counts for this process only, until Redis responds again.
 *
 * @throws {TypeError} if the URL is invalid
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

  /** Changes a bucket in Redis. Rejects if there is no connection, no response in time, or an error. */
  async function ask(change: Change, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    const bucket = bucketOf(limit);
    const { msPerCall, emptyMs, deepestMs } = bucket;
    const args = [cost * msPerCall, emptyMs, deepestMs, change === 'take' ? 1 : 0].map(String);
    const run = () => redis.run(prefix + hash('sha256', key, 'base64url'), args);
    const whenOpened = async () => {
      await redis.opened;
      if (isAway) {
        throw TIME_IS_OVER; // The fallback has counted it.
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
      logger.warn({ reason }, 'Redis is unavailable. Until it is back, each process enforces rate limits on its own.');
    }
  }

  function comeBack(): void {
    if (isAway && !isDisposed) {
      isAway = false;
      logger.info('Redis is available again. Rate limits are shared.');
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
      nextTryAt = Number.POSITIVE_INFINITY; // Only one attempt at a time.
      ask(change, key, limit, cost).then(comeBack, leave); // In the background.
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

/** Settles like the promise, or rejects with TIME_IS_OVER after the given time. */
function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(TIME_IS_OVER), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
