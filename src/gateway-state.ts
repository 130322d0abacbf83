import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createRemoteKeys, type RemoteKeys } from './auth/signing-keys.ts';
import { createRateLimiters, type RateLimiters } from './rate-limits/rate-limiters.ts';
import type { CounterMemory } from './telemetry/counter-memory.ts';
import { type Counts, createCounts } from './telemetry/counts.ts';
import { type CacheStores, createCacheStores } from './upstream/cache/cache-stores.ts';

/**
 * State that a gateway takes over from the one that it replaces: counters continue, rate limits are not refilled, the cache keeps its responses, the
 * signing keys of issuers are not fetched again, and tenants keep their values in the log.
 */
export interface GatewayState {
  counts: Counts;
  rateLimiters: RateLimiters;
  cacheStores: CacheStores;
  remoteKeys: RemoteKeys;
  /** Default of `logSecret`. */
  logSecret: string;
}

/**
 * Creates the state of the first gateway.
 *
 * @param counters memory of the counters. By default, no other process reads it
 * @param monotonicNow clock of rate limits, in milliseconds. @default performance.now
 * @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100
 */
export const createGatewayState = (
  logger: Logger,
  counters?: CounterMemory,
  monotonicNow?: () => number,
  redisTimeoutMs?: number,
): GatewayState => ({
  counts: createCounts(logger, counters),
  rateLimiters: createRateLimiters(logger, monotonicNow, redisTimeoutMs),
  cacheStores: createCacheStores(logger, redisTimeoutMs),
  remoteKeys: createRemoteKeys(logger),
  logSecret: randomBytes(32).toString('hex'),
});
