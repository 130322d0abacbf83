import { createHash } from 'node:crypto';
import { allowanceOf, type Bucket, bucketOf, waitFor } from './bucket.ts';
import type { Allowance, RateLimit, RateLimiter } from './rate-limiter.ts';

export interface MemoryRateLimiterOptions {
  /** Milliseconds on any clock that only goes forward. @default performance.now */
  now?: () => number;
  /** Identities that are remembered at most; beyond it, those are forgotten that have used least of their limit. @default 50000 */
  maxKeys?: number;
}

/** Answers at once. */
export interface MemoryRateLimiter extends RateLimiter {
  take(key: string, limit: RateLimit, cost: number): Allowance;
  charge(key: string, limit: RateLimit, cost: number): Allowance;
}

/** API keys of known services are shorter. */
const MAX_KEY_LENGTH = 128;

interface Entry {
  /** When the bucket is full again. */
  fullAt: number;
  /** What is missing in an empty one, in milliseconds. */
  emptyMs: number;
}

/** Full buckets are looked for when there are this many, and then each time there are twice as many as were left. */
const MANY = 1_000;

/** The share that is forgotten when too many buckets are not full, so that not every new one has to look at all of them. */
const FORGOTTEN = 0.1;

/**
 * Counts in the memory of this process: each process has a limit of its own. Entries stay in the map until there are many, for one whose
 * entries come and go with every request makes garbage that is dear to collect.
 */
export function createMemoryRateLimiter({
  now = () => performance.now(),
  maxKeys = 50_000,
}: MemoryRateLimiterOptions = {}): MemoryRateLimiter {
  const entries = new Map<string, Entry>();
  const many = Math.min(MANY, maxKeys);
  let limit = many;

  /** Forgets full buckets, and, where there are too many others, those that are nearest to it: never one in debt before one that is not. */
  function sweep(time: number): void {
    const shares: number[] = [];
    for (const [key, entry] of entries) {
      if (entry.fullAt <= time) {
        entries.delete(key);
      } else {
        shares.push(missingShare(entry, time));
      }
    }
    if (shares.length >= maxKeys) {
      const count = Math.max(1, Math.floor(maxKeys * FORGOTTEN));
      forget(shares.length - maxKeys + count, shares, time);
    }
    limit = Math.min(maxKeys, Math.max(many, 2 * entries.size));
  }

  function forget(count: number, shares: number[], time: number): void {
    const bound = Float64Array.from(shares).sort()[count - 1] ?? 0;
    let left = count;
    for (const [key, entry] of entries) {
      if (left > 0 && missingShare(entry, time) <= bound) {
        entries.delete(key);
        left -= 1;
      }
    }
  }

  function entryOf(identity: string, { emptyMs }: Bucket, time: number): Entry {
    const key = toKey(identity);
    const known = entries.get(key);
    if (known !== undefined) {
      known.emptyMs = emptyMs;
      return known;
    }
    if (entries.size >= limit) {
      sweep(time);
    }
    const entry = { fullAt: time, emptyMs };
    entries.set(key, entry);
    return entry;
  }

  const dispose = async () => entries.clear();
  return {
    take(key, rateLimit, cost) {
      const time = now();
      const bucket = bucketOf(rateLimit);
      const entry = entryOf(key, bucket, time);
      const missing = missingOf(entry, bucket, time);
      const wait = waitFor(bucket, missing, cost);
      if (wait > 0) {
        return allowanceOf(bucket, rateLimit, missing, wait);
      }
      entry.fullAt = time + missing + cost * bucket.msPerCall;
      return allowanceOf(bucket, rateLimit, entry.fullAt - time);
    },
    charge(key, rateLimit, cost) {
      const time = now();
      const bucket = bucketOf(rateLimit);
      const entry = entryOf(key, bucket, time);
      const missing = missingOf(entry, bucket, time) + cost * bucket.msPerCall;
      entry.fullAt = time + Math.min(bucket.deepestMs, Math.max(0, missing));
      return allowanceOf(bucket, rateLimit, entry.fullAt - time);
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Long identities are kept as their digest: 50,000 API keys of 2 KB would be 100 MB. */
const toKey = (identity: string): string =>
  identity.length > MAX_KEY_LENGTH ? createHash('sha256').update(identity).digest('base64url') : identity;

/** Above 1 it is in debt. */
const missingShare = ({ fullAt, emptyMs }: Entry, time: number): number => (fullAt - time) / emptyMs;

const missingOf = ({ fullAt }: Entry, { deepestMs }: Bucket, time: number): number =>
  Math.min(deepestMs, Math.max(0, fullAt - time));
