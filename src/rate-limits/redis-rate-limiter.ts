// Counts upstream calls per caller in Redis, for all processes and replicas, and opens the rate limiter that the configuration chooses.

import { hash } from 'node:crypto';
import { createSharedResources } from '../lib/shared-resources.ts';
import { createRedis, type RedisStoreOptions, type RedisWork, type SharedRedisOptions } from '../redis/redis.ts';
import { NOT_REDIS, RedisError } from '../redis/redis-connection.ts';
import type { GatewaySettings, RateLimit } from '../settings/settings.ts';
import {
  type Allowance,
  allowanceOf,
  bucketOf,
  createMemoryRateLimiter,
  type RateLimiter,
  TOLERANCE_MS,
  waitFor,
} from './rate-limiter.ts';

/**
 * Lua script that changes one bucket atomically and by the clock of Redis, so that concurrent gateways and their clocks don't matter. The key holds the
 * time at which the bucket is full again, in milliseconds, and expires at that time.
 *
 * ARGV: cost of the calls, `emptyMs` and `deepestMs` of the bucket (all in milliseconds), and whether the calls may be rejected (1 or 0).
 * Returns whether they were granted (1 or 0), and the milliseconds until the bucket is full.
 */
const SCRIPT = `
local cost, empty, deepest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local fullAt = tonumber(redis.call('GET', KEYS[1]) or now)
local missing = math.min(deepest, math.max(0, fullAt - now))
if ARGV[4] == '1' and missing + math.min(cost, empty) - empty > ${TOLERANCE_MS} then
  return {0, string.format('%.17g', missing)}
end
missing = math.min(deepest, math.max(0, missing + cost))
if missing > 0 then
  redis.call('SET', KEYS[1], string.format('%.17g', now + missing), 'PX', math.ceil(missing))
else
  redis.call('DEL', KEYS[1])
end
return {1, string.format('%.17g', missing)}
`;

/** Name of the script for Redis, which keeps it. */
const SCRIPT_SHA1 = hash('sha1', SCRIPT);

/** Arguments of the script with which Redis is tried: a bucket that is full again after a millisecond. */
const TRIAL = ['1', '1', '1', '0'];

/**
 * Creates a rate limiter that counts in Redis, so that all processes and replicas share one limit. If Redis is unavailable, slow or failing,
 * operations wait for at most one timeout. From then on each process counts on its own, until Redis responds again. After the prefix, a key is a hash
 * of the caller's id.
 *
 * @throws {SecretError} if the URL or the certificates are invalid
 * @throws {SetupError} if the Redis client is not installed
 */
export function createRedisRateLimiter(options: RedisStoreOptions) {
  const { prefix } = options;
  const fallback = createMemoryRateLimiter();
  const redis = createRedis(options, {
    messages: { whileDown: 'each process enforces rate limits on its own', onceUp: 'Rate limits are shared.' },
    trial: runScript(`${prefix}trial`, TRIAL),
  });

  async function count(method: 'take' | 'charge', key: string, limit: RateLimit, cost: number): Promise<Allowance> {
    const bucket = bucketOf(limit);
    const { msPerCall, emptyMs, deepestMs } = bucket;
    const args = [cost * msPerCall, emptyMs, deepestMs, method === 'take' ? 1 : 0].map(String);
    const reply = await redis.run(runScript(prefix + hash('sha256', key, 'base64url'), args));
    if (reply === undefined) {
      return fallback[method](key, limit, cost);
    }
    const { isGranted, missingMs } = reply;
    return allowanceOf(bucket, limit, missingMs, isGranted ? undefined : waitFor(bucket, missingMs, cost));
  }

  return {
    take: (key, limit, cost) => count('take', key, limit, cost),
    charge: (key, limit, cost) => count('charge', key, limit, cost),
    connected: redis.connected,
    status: redis.status,
    [Symbol.asyncDispose]: async () => redis[Symbol.dispose](),
  } satisfies RateLimiter;
}

/** Returns the work that runs the script on a bucket. Its result has the milliseconds until the bucket is full. */
const runScript =
  (key: string, args: readonly string[]): RedisWork<{ isGranted: boolean; missingMs: number }> =>
  async (send) => {
    const parameters = ['1', key, ...args];
    const reply = await send('EVALSHA', SCRIPT_SHA1, ...parameters).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT ')) {
        return send('EVAL', SCRIPT, ...parameters); // Redis keeps the script from now on.
      }
      throw error;
    });
    const [granted, missing]: unknown[] = Array.isArray(reply) ? reply : [];
    const missingMs = missing instanceof Buffer ? Number(missing) : Number.NaN;
    if (typeof granted !== 'number' || !Number.isFinite(missingMs)) {
      throw new RedisError(NOT_REDIS);
    }
    return { isGranted: granted === 1, missingMs };
  };

/**
 * Creates an empty set of rate limiters by store. Gateways with the same store share one, so that a gateway that replaces another one doesn't refill its
 * limits.
 *
 * @param now monotonic clock of those in memory, in milliseconds. @default performance.now
 */
export function createRateLimiters(shared: SharedRedisOptions, now?: () => number) {
  const limiters = createSharedResources<RateLimiter>();
  return {
    /**
     * Opens the rate limiter of a store. It is closed when everybody who opened it has disposed it.
     *
     * @throws {SecretError} if the URL or the certificates can't be read, or are invalid
     * @throws {SetupError} if the store is Redis and its client is not installed
     */
    open(store: GatewaySettings['rateLimits']['store']): RateLimiter {
      const { redis } = store === 'memory' ? {} : store;
      const options = redis && { ...redis, prefix: `${redis.keyPrefix}limit:`, ...shared };
      const { resource, release } = limiters.open(JSON.stringify(store), () =>
        options ? createRedisRateLimiter(options) : createMemoryRateLimiter(now),
      );
      return { ...resource, [Symbol.asyncDispose]: release };
    },
  };
}
