import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { createRedis } from '../redis/redis.ts';
import { runScript } from '../redis/redis-script.ts';
import type { RedisServer } from '../redis/redis-server.ts';
import type { StoreStatus } from '../redis/store-state.ts';
import type { RateLimit } from '../settings/rate-limits.ts';
import { allowanceOf, bucketOf, waitFor } from './bucket.ts';
import { BUCKET_SCRIPT } from './bucket-script.ts';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';
import type { Allowance, RateLimiter } from './rate-limiter.ts';

/** Options of `createRedisRateLimiter`. */
export interface RedisRateLimiterOptions extends RedisServer {
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Rate limiter to use while Redis is unavailable. Disposed together with this one. @default a memory rate limiter */
  fallback?: RateLimiter;
  /** Prefix of keys; the rest of a key is a hash of the caller's id. @default 'notigraph:limit:' */
  prefix?: string;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
}

/** Rate limiter in Redis. */
export interface RedisRateLimiter extends RateLimiter {
  status(): Readonly<StoreStatus>;
}

type Method = 'take' | 'charge';

/** Arguments of the script with which Redis is tried: a bucket that is full again after a millisecond. */
const TRIAL = ['1', '1', '1', '0'];

/**
 * Creates a rate limiter that counts in Redis, so that all processes and replicas share one limit. If Redis is unavailable, slow or failing,
 * operations wait for at most one timeout. From then on `fallback` counts for this process only, until Redis responds again.
 *
 * @throws {SecretError} if the URL or the certificates are invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedisRateLimiter({
  url,
  ca,
  logger,
  fallback = createMemoryRateLimiter(),
  prefix = 'notigraph:limit:',
  timeoutMs,
}: RedisRateLimiterOptions): RedisRateLimiter {
  const redis = createRedis({
    url,
    ca,
    logger,
    messages: { whileDown: 'each process enforces rate limits on its own', onceUp: 'Rate limits are shared.' },
    trial: runScript(BUCKET_SCRIPT, [`${prefix}trial`], TRIAL),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

  async function count(method: Method, key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    const bucket = bucketOf(limit);
    const { msPerCall, emptyMs, deepestMs } = bucket;
    const args = [cost * msPerCall, emptyMs, deepestMs, method === 'take' ? 1 : 0].map(String);
    const reply = await redis.run(runScript(BUCKET_SCRIPT, [prefix + hash('sha256', key, 'base64url')], args));
    if (reply === undefined) {
      return fallback[method](key, limit, cost);
    }
    const { isGranted, missingMs } = reply;
    return isGranted
      ? allowanceOf(bucket, limit, missingMs)
      : allowanceOf(bucket, limit, missingMs, waitFor(bucket, missingMs, cost));
  }

  async function dispose(): Promise<void> {
    redis[Symbol.dispose]();
    await fallback.dispose();
  }

  return {
    take: (key, limit, cost) => count('take', key, limit, cost),
    charge: (key, limit, cost) => count('charge', key, limit, cost),
    connected: redis.connected,
    status: redis.status,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
