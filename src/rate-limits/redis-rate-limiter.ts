import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { RateLimit } from '../settings/clients.ts';
import { allowanceOf, bucketOf, waitFor } from './bucket.ts';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';
import type { Allowance, RateLimiter } from './rate-limiter.ts';
import { openRedis } from './redis-connection.ts';

/** Options of `createRedisRateLimiter`. */
export interface RedisRateLimiterOptions {
  /** URL such as `redis://user:password@host:6379/0`, or `rediss://…` for TLS. */
  url: string;
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Rate limiter to use while Redis is unavailable. Disposed together with this one. @default a memory rate limiter */
  fallback?: RateLimiter;
  /** Prefix of keys; the rest of a key is a hash of the caller's id. @default 'notigraph:limit:' */
  prefix?: string;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
}

type Method = 'take' | 'charge';

/** Minimum interval between attempts to use Redis while it is unavailable. */
const RETRY_INTERVAL_MS = 500;

/**
 * Creates a rate limiter that counts in Redis, so that all processes and replicas share one limit. If Redis is unavailable, slow or failing,
 * operations wait for at most one timeout. From then on `fallback` counts for this process only, until Redis responds again.
 *
 * @throws {TypeError} if the URL is invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedisRateLimiter({
  url,
  logger,
  fallback = createMemoryRateLimiter(),
  prefix = 'notigraph:limit:',
  timeoutMs = 100,
}: RedisRateLimiterOptions): RateLimiter {
  const redis = openRedis(url);
  let isUnavailable = false;
  let isDisposed = false;
  let nextRetryAt = 0;

  /** Changes a bucket in Redis. Rejects if there is no connection, no response in time, or an error. */
  async function runScript(method: Method, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    const bucket = bucketOf(limit);
    const { msPerCall, emptyMs, deepestMs } = bucket;
    const args = [cost * msPerCall, emptyMs, deepestMs, method === 'take' ? 1 : 0].map(String);
    const run = () => redis.run(prefix + hash('sha256', key, 'base64url'), args);
    const whenOpened = async () => {
      await redis.opened;
      if (isUnavailable) {
        throw TIMED_OUT; // The fallback already counted it.
      }
      return run();
    };
    const { isGranted, missingMs } = await withTimeout(redis.isReady() ? run() : whenOpened(), timeoutMs);
    return isGranted
      ? allowanceOf(bucket, limit, missingMs)
      : allowanceOf(bucket, limit, missingMs, waitFor(bucket, missingMs, cost));
  }

  function onFailure(failure: unknown): void {
    nextRetryAt = performance.now() + Math.max(RETRY_INTERVAL_MS, timeoutMs);
    if (!isUnavailable && !isDisposed) {
      isUnavailable = true;
      const reason = failure === TIMED_OUT && redis.isReady() ? 'TIMEOUT' : redis.lastFailure();
      logger.warn({ reason }, 'Redis is unavailable. Until it is back, each process enforces rate limits on its own.');
    }
  }

  function onRecovery(): void {
    if (isUnavailable && !isDisposed) {
      isUnavailable = false;
      logger.info('Redis is available again. Rate limits are shared.');
    }
  }

  async function count(method: Method, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    if (!isUnavailable && !isDisposed) {
      try {
        return await runScript(method, key, limit, cost);
      } catch (failure) {
        onFailure(failure);
      }
    } else if (redis.isReady() && performance.now() >= nextRetryAt) {
      nextRetryAt = Number.POSITIVE_INFINITY; // Only one attempt at a time.
      runScript(method, key, limit, cost).then(onRecovery, onFailure); // In the background.
    }
    return fallback[method](key, limit, cost);
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

const TIMED_OUT = Symbol('timed out');

/** Settles like the promise, or rejects with TIME_IS_OVER after the given time. */
function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(TIMED_OUT), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
