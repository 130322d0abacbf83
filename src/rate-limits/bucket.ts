import type { RateLimit } from '../settings/clients.ts';
import type { Allowance } from './rate-limiter.ts';

/** The deepest debt, in windows of the limit: who owes so much waits `MAX_DEBT * perSeconds` at most. */
export const MAX_DEBT = 10;

/** Sums of fractions are not exact: what is missing by less than this, in milliseconds, is there. */
export const TOLERANCE_MS = 0.01;

/**
 * A limit in terms of time. All that is kept of a bucket is how long it takes until it is full again: a full one need not be kept at all,
 * and nothing has to fill them up.
 */
export interface Bucket {
  /** The time in which one call comes back. */
  msPerCall: number;
  /** What is missing in an empty one. */
  emptyMs: number;
  /** What is missing in the deepest debt. */
  deepestMs: number;
}

export function bucketOf({ calls, perSeconds, burst = calls }: RateLimit): Bucket {
  const msPerCall = (perSeconds * 1_000) / calls;
  const emptyMs = burst * msPerCall;
  return { msPerCall, emptyMs, deepestMs: emptyMs + MAX_DEBT * perSeconds * 1_000 };
}

/** How long it takes until a cost can be taken; 0 or less: it can be now. A cost that is larger than the bucket needs a full one. */
export const waitFor = ({ msPerCall, emptyMs }: Bucket, missingMs: number, cost: number): number =>
  missingMs + Math.min(cost * msPerCall, emptyMs) - emptyMs - TOLERANCE_MS;

/** @param missingMs what is missing after it @param waitMs where it was refused */
export function allowanceOf(
  { msPerCall, emptyMs }: Bucket,
  { calls, burst = calls }: RateLimit,
  missingMs: number,
  waitMs?: number,
): Allowance {
  const allowance: Allowance = {
    isAllowed: waitMs === undefined,
    limit: burst,
    remaining: Math.max(0, Math.floor((emptyMs - missingMs + TOLERANCE_MS) / msPerCall)),
    resetSeconds: Math.max(0, Math.ceil((missingMs - TOLERANCE_MS) / 1_000)),
  };
  if (waitMs !== undefined) {
    allowance.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  }
  return allowance;
}
