// Counts upstream calls per caller in the memory of this process, and defines what every rate limiter is and how its buckets work.

import { createHash } from 'node:crypto';
import type { StoreStatus } from '../redis/redis.ts';
import type { RateLimit } from '../settings/settings.ts';

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
export const TOLERANCE_MS = 0.01;

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

export function bucketOf({ calls, perSeconds }: RateLimit): Bucket {
  const msPerCall = (perSeconds * 1_000) / calls;
  const emptyMs = perSeconds * 1_000;
  return { msPerCall, emptyMs, deepestMs: (1 + MAX_DEBT) * emptyMs };
}

/**
 * Returns the milliseconds until a cost can be taken; 0 or less if it can be taken now. A cost larger than the bucket requires a full one.
 *
 * @param missingMs time until the bucket is full
 */
export const waitFor = ({ msPerCall, emptyMs }: Bucket, missingMs: number, cost: number): number =>
  missingMs + Math.min(cost * msPerCall, emptyMs) - emptyMs - TOLERANCE_MS;

/**
 * Describes the state of a bucket.
 *
 * @param missingMs time until the bucket is full, after the change
 * @param waitMs time until a rejected cost can be taken; undefined if it was granted
 */
export function allowanceOf({ msPerCall, emptyMs }: Bucket, { calls }: RateLimit, missingMs: number, waitMs?: number) {
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
  identity.length > MAX_KEY_LENGTH ? createHash('sha256').update(identity).digest('base64url') : identity;

const clamp = (missingMs: number, { deepestMs }: Bucket): number => Math.min(deepestMs, Math.max(0, missingMs));

/** Returns the used share of a limit. Above 1, the caller is in debt. */
const missingShare = ({ fullAt, emptyMs }: Entry, time: number): number => (fullAt - time) / emptyMs;
