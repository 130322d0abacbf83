import type { Logger } from 'pino';
import { createSharedResources, type SharedResource } from '../../lib/shared-resources.ts';
import type { CacheSettings } from '../../settings/cache.ts';
import { readSecret } from '../../settings/kinds.ts';
import { MemoryStore } from './memory-store.ts';
import { createRedisCacheStore } from './redis-store.ts';
import type { CacheStore } from './store.ts';

/** Stores of caches. Gateways with the same one share it, so that a gateway that replaces another one keeps what is stored. */
export interface CacheStores {
  /**
   * Opens a store.
   *
   * @param now monotonic clock, in milliseconds. @default performance.now
   * @throws {SecretError} if the secret, the URL or the certificates can't be read, or are invalid
   * @throws {MissingPackageError} if the store is Redis and its client is not installed
   */
  open(settings: CacheSettings, now?: () => number): SharedResource<CacheStore>;
}

/**
 * Creates an empty set of stores.
 *
 * @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100
 */
export function createCacheStores(logger: Logger, redisTimeoutMs?: number): CacheStores {
  const stores = createSharedResources<CacheStore>();
  return {
    open({ store, secret: source = '', maxBytes }, now) {
      if (store === 'memory') {
        return stores.open(JSON.stringify([store, maxBytes]), () => new MemoryStore({ maxBytes, now }));
      }
      const { url, ca, keyPrefix } = store.redis;
      const secret = readSecret('cacheSecret', source);
      return stores.open(JSON.stringify([store, secret]), () =>
        createRedisCacheStore({
          url,
          ca,
          prefix: `${keyPrefix}cache:`,
          secret,
          logger,
          ...(redisTimeoutMs !== undefined && { timeoutMs: redisTimeoutMs }),
        }),
      );
    },
  };
}
