import { pino } from 'pino';
import { createRedisCacheStore, type RedisCacheStoreOptions } from '../../src/upstream/cache/redis-store.ts';
import { UNKNOWN_MS } from './cache-store-contract.ts';

/** Default of `secret`. */
export const SECRET = 'secret-of-the-tests-0123456789abcdef';

/** Creates a store with its log. Waits longer for Redis than usual, because the machine may be busy. */
export function createRedisCache(url: RedisCacheStoreOptions['url'], options: Partial<RedisCacheStoreOptions> = {}) {
  const log: { msg: string; reason?: string }[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const store = createRedisCacheStore({
    url,
    logger,
    secret: SECRET,
    timeoutMs: 10_000,
    unknownWriteMs: UNKNOWN_MS,
    ...options,
  });
  return { store, log, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}
