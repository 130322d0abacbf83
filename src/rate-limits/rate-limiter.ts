// Counts upstream calls per caller: in the memory of this process, or in Redis for all processes and replicas.

import { hash } from 'node:crypto';
import { createSharedResources } from '../lib/shared-resources.ts';
import {
  createRedis,
  notRedis,
  type RedisStoreOptions,
  type RedisWork,
  type SharedRedisOptions,
  type StoreStatus,
} from '../redis/redis.ts';
import type { GatewaySettings, RateLimit } from '../settings/settings.ts';

/** State of a caller's limit. */
export interface Allowance {
  isAllowed: boolean;
  /** Maximum of `remaining`: the limit's `calls`. */
  limit: number;
  /** Whole calls that are left; 0 or more. */
  remaining: number;
  /** Whole seconds until `remaining` is `limit` again. */
  resetSeconds: number;
  /** Whole seconds, 1 or more, until the calls would be granted; absent if they were. */
  retryAfterSeconds?: number;
}

/**
 * Counts upstream calls per caller.
 *
 * The cost of an operation is known only after it has run, because loaders and concurrent operations share calls, and later calls depend on
 * earlier responses. So an operation takes 1 call before it runs, and the difference is charged afterwards. If it costs more than is left,
 * the caller is in debt, and further operations are rejected until the debt is paid off. Only in-flight operations can exceed the limit.
 * The debt is bounded by `MAX_DEBT`, so that no caller is locked out for hours.
 */
export interface RateLimiter extends AsyncDisposable {
  /** Takes calls before they are made, or none if there are too few. A promise never rejects. */
  take(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Charges the calls made beyond those taken, even if too few are left. A negative cost gives calls back. A promise never rejects. */
  charge(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Resolves once the first attempt to connect to the shared store has succeeded or failed, after two seconds at most. Never rejects. */
  connected(): Promise<void>;
  /** Returns the state of the store that processes share; undefined if each one counts in its own memory. */
  status(): Readonly<StoreStatus> | undefined;
}

/** Maximum debt, in windows of the limit. A caller waits at most `MAX_DEBT * perSeconds` to pay it off. */
const MAX_DEBT = 10;

/** Tolerance for rounding errors, in milliseconds: sums of fractions are not exact. */
const TOLERANCE_MS = 0.01;

/**
 * A token bucket, measured in milliseconds. The only state of a bucket is the time until it is full again. So nothing has to refill buckets, and
 * full ones need not be stored.
 */
interface Bucket {
  /** Time in which one call is refilled. */
  msPerCall: number;
  /** Time until an empty bucket is full. */
  emptyMs: number;
  /** Time until a bucket with the maximum debt is full. */
  deepestMs: number;
}

function bucketOf({ calls, perSeconds }: RateLimit): Bucket {
  const msPerCall = (perSeconds * 1_000) / calls;
  const emptyMs = perSeconds * 1_000;
  return { msPerCall, emptyMs, deepestMs: (1 + MAX_DEBT) * emptyMs };
}

/**
 * Returns the milliseconds until a cost can be taken; 0 or less if it can be taken now. A cost larger than the bucket requires a full one.
 *
 * @param missingMs time until the bucket is full
 */
const waitFor = ({ msPerCall, emptyMs }: Bucket, missingMs: number, cost: number): number =>
  missingMs + Math.min(cost * msPerCall, emptyMs) - emptyMs - TOLERANCE_MS;

/**
 * Describes the state of a bucket.
 *
 * @param missingMs time until the bucket is full, after the change
 * @param waitMs time until a rejected cost can be taken; undefined if it was granted
 */
function allowanceOf({ msPerCall, emptyMs }: Bucket, { calls }: RateLimit, missingMs: number, waitMs?: number) {
  const allowance: Allowance = {
    isAllowed: waitMs === undefined,
    limit: calls,
    remaining: Math.max(0, Math.floor((emptyMs - missingMs + TOLERANCE_MS) / msPerCall)),
    resetSeconds: Math.max(0, Math.ceil((missingMs - TOLERANCE_MS) / 1_000)),
  };
  if (waitMs !== undefined) {
    allowance.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  }
  return allowance;
}

/** Maximum length of a caller's id before it is hashed. API keys of known services are shorter. */
const MAX_KEY_LENGTH = 128;

interface Entry extends Omit<Bucket, 'deepestMs'> {
  /** Time at which the bucket is full again. */
  fullAt: number;
}

/** Maximum callers to keep. Beyond it, those that have used the smallest share of their limit are dropped. */
const MAX_CALLERS = 50_000;

/** Number of buckets at which full ones are first dropped. Later, they are dropped whenever the number has doubled. */
const FIRST_SWEEP_SIZE = 1_000;

/** Callers to drop when there are too many, so that not every new one causes a scan of all of them. */
const EVICTED = MAX_CALLERS / 10;

/**
 * Creates a rate limiter that counts in the memory of this process. It is not an LRU cache, because a caller could then reset its limit by
 * inventing 50,000 API keys, in 0.13 s. Full buckets stay until there are many, because a map whose entries come and go with every request
 * produces garbage that is expensive to collect.
 *
 * @param now returns the milliseconds of a monotonic clock
 */
export function createMemoryRateLimiter(now = () => performance.now()) {
  const entries = new Map<string, Entry>();
  let sweepSize = FIRST_SWEEP_SIZE;

  /** Drops full buckets. If too many others remain, drops those that are nearest to full, so never one in debt before one that is not. */
  function sweep(time: number): void {
    const shares: number[] = [];
    for (const [key, entry] of entries) {
      if (entry.fullAt <= time) {
        entries.delete(key);
      } else {
        shares.push(missingShare(entry, time));
      }
    }
    if (shares.length >= MAX_CALLERS) {
      evict(shares, time);
    }
    sweepSize = Math.min(MAX_CALLERS, Math.max(FIRST_SWEEP_SIZE, 2 * entries.size));
  }

  function evict(shares: number[], time: number): void {
    const bound = Float64Array.from(shares).sort()[EVICTED - 1] ?? 0;
    let left = EVICTED;
    for (const [key, entry] of entries) {
      if (left > 0 && missingShare(entry, time) <= bound) {
        entries.delete(key);
        left -= 1;
      }
    }
  }

  function entryOf(identity: string, { emptyMs, msPerCall }: Bucket, time: number): Entry {
    const key = toKey(identity);
    const existing = entries.get(key);
    if (existing !== undefined) {
      existing.emptyMs = emptyMs;
      if (existing.msPerCall !== msPerCall) {
        existing.fullAt = time + ((existing.fullAt - time) / existing.msPerCall) * msPerCall; // The same number of calls is missing.
        existing.msPerCall = msPerCall;
      }
      return existing;
    }
    if (entries.size >= sweepSize) {
      sweep(time);
    }
    const entry = { fullAt: time, emptyMs, msPerCall };
    entries.set(key, entry);
    return entry;
  }

  /** Changes a bucket as the script for Redis does. */
  function count(key: string, limit: RateLimit, cost: number, mayReject: boolean): Allowance {
    const time = now();
    const bucket = bucketOf(limit);
    const entry = entryOf(key, bucket, time);
    const missing = clamp(entry.fullAt - time, bucket);
    const wait = mayReject ? waitFor(bucket, missing, cost) : 0;
    if (wait > 0) {
      return allowanceOf(bucket, limit, missing, wait);
    }
    entry.fullAt = time + clamp(missing + cost * bucket.msPerCall, bucket);
    return allowanceOf(bucket, limit, entry.fullAt - time);
  }

  return {
    take: (key, limit, cost) => count(key, limit, cost, true),
    charge: (key, limit, cost) => count(key, limit, cost, false),
    connected: async () => {},
    status: () => undefined,
    [Symbol.asyncDispose]: async () => entries.clear(),
  } satisfies RateLimiter;
}

/** Hashes long ids: 50,000 API keys of 2 KB would take 100 MB. */
const toKey = (identity: string): string =>
  identity.length > MAX_KEY_LENGTH ? hash('sha256', identity, 'base64url') : identity;

const clamp = (missingMs: number, { deepestMs }: Bucket): number => Math.min(deepestMs, Math.max(0, missingMs));

/** Returns the used share of a limit. Above 1, the caller is in debt. */
const missingShare = ({ fullAt, emptyMs }: Entry, time: number): number => (fullAt - time) / emptyMs;

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
      throw notRedis();
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
