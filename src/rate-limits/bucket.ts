import type { RateLimit } from '../settings/rate-limits.ts';
import type { Allowance } from './rate-limiter.ts';

/** Maximum debt, in windows of the limit. A caller waits at most `MAX_DEBT * perSeconds` to pay it off. */
export const MAX_DEBT = 10;

/** Tolerance for rounding errors, in milliseconds: sums of fractions are not exact. */
export const TOLERANCE_MS = 0.01;

/**
 * A token bucket, measured in time. The only state of a bucket is the time until it is full again. So nothing has to refill buckets, and
 * full ones need not be stored.
 */
export interface Bucket {
  /** Time in which one call is refilled. */
  msPerCall: number;
  /** Time until an empty bucket is full. */
  emptyMs: number;
  /** Time until a bucket with the maximum debt is full. */
  deepestMs: number;
}

/** Converts a limit to times. */
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
export function allowanceOf(
  { msPerCall, emptyMs }: Bucket,
  { calls }: RateLimit,
  missingMs: number,
  waitMs?: number,
): Allowance {
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
