// Opens the rate limiter that the configuration chooses.

import type { Logger } from 'pino';
import { createSharedResources } from '../lib/shared-resources.ts';
import type { Settings } from '../settings/settings.ts';
import { createMemoryRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { createRedisRateLimiter } from './redis-rate-limiter.ts';

/**
 * Creates an empty set of rate limiters by store. Gateways with the same store share one, so that a gateway that replaces another one doesn't refill its
 * limits.
 *
 * @param now monotonic clock of those in memory, in milliseconds. @default performance.now
 * @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100
 */
export function createRateLimiters(logger: Logger, now?: () => number, redisTimeoutMs?: number) {
  const limiters = createSharedResources<RateLimiter>();
  return {
    /**
     * Opens the rate limiter of a store. It is closed when everybody who opened it has disposed it.
     *
     * @throws {SecretError} if the URL or the certificates can't be read, or are invalid
     * @throws {MissingPackageError} if the store is Redis and its client is not installed
     */
    open(store: Settings['rateLimits']['store']): RateLimiter {
      const { resource, release } = limiters.open(JSON.stringify(store), () =>
        store === 'memory'
          ? createMemoryRateLimiter(now)
          : createRedisRateLimiter({
              ...store.redis,
              prefix: `${store.redis.keyPrefix}limit:`,
              logger,
              timeoutMs: redisTimeoutMs,
            }),
      );
      return { ...resource, [Symbol.asyncDispose]: release };
    },
  };
}
