// Starts the stores of caches, in memory and in Redis, with a clock that tests move.

import { pino } from 'pino';
import type { GatewayDeps, GatewayOptions } from '../../src/gateway.ts';
import { RedisCacheStore, type RedisCacheStoreOptions } from '../../src/upstream/cache/redis-store.ts';
import { hasRedis, startRedis } from './redis.ts';

/** Stores of the cache, each of which must keep every promise. */
type StoreKind = 'memory' | 'redis';

/** Stores that can be tested on this machine. */
export const STORES: readonly StoreKind[] = hasRedis ? ['memory', 'redis'] : ['memory'];

type CacheSettings = Extract<GatewayOptions['cache'], object>;

/** Cache of one gateway, or of several in the case of Redis, with a clock. */
export interface TestCache extends AsyncDisposable {
  /** Value of the setting `cache`. */
  settings: CacheSettings;
  /** Dependencies of the gateways. */
  deps: Pick<GatewayDeps, 'monotonicNow'>;
  /** Makes everything that is stored older. */
  pass(seconds: number): Promise<void>;
}

/** Subtracts a time from the start of each entry. */
const AGE_ENTRIES = `
for _, key in ipairs(redis.call('KEYS', '*:entry:*')) do
  local value = redis.call('GET', key)
  local started, rest = string.match(value, '^(%d+)( .*)$')
  redis.call('SET', key, string.format('%.0f', started - ARGV[1]) .. rest, 'KEEPTTL')
end
return 1`;

/** Starts the store of a cache. */
export async function startTestCache(
  kind: StoreKind,
  options: Omit<CacheSettings, 'store' | 'secret'> = {},
): Promise<TestCache> {
  let passedMs = 0;
  const deps = { monotonicNow: () => performance.now() + passedMs };
  const advance = (seconds: number) => {
    passedMs += seconds * 1_000;
  };
  if (kind === 'memory') {
    return { settings: options, deps, pass: async (seconds) => advance(seconds), async [Symbol.asyncDispose]() {} };
  }
  const redis = await startRedis();
  return {
    settings: { ...options, store: { redis: { url: redis.url } }, secret: SECRET },
    deps,
    async pass(seconds) {
      advance(seconds);
      await redis.command('EVAL', AGE_ENTRIES, '0', String(seconds * 1_000));
    },
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}

/** Secret of the caches. */
export const SECRET = 'secret-of-the-tests-0123456789abcdef';

/** Creates a store with its log. Waits longer for Redis than usual, because the machine may be busy. */
export function createRedisCache(url: RedisCacheStoreOptions['url'], options: Partial<RedisCacheStoreOptions> = {}) {
  const log: { msg: string; reason?: string }[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const store = new RedisCacheStore({
    url,
    logger,
    secret: SECRET,
    prefix: 'notigraph:cache:',
    timeoutMs: 10_000,
    ...options,
  });
  return { store, log, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}
