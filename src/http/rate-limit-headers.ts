import type { UpstreamRateLimit, Usage } from '../upstream/client.ts';
import type { AdmissionAllowance } from './admission.ts';

/** Sources of the rate-limit headers of a response. */
export interface RateLimitState {
  /** State of the gateway's own limit when the operation was admitted; undefined if there is no limit. */
  allowance: AdmissionAllowance | undefined;
  /** Cost of the operation, in calls. */
  cost: number;
  /** Upstream calls of the operation, with the limit reported by the service. */
  usage: Readonly<Usage> | undefined;
  /** Errors of the response, as the client sees them. */
  errors?: readonly { extensions?: unknown }[] | undefined;
}

/** Tolerance of sums of fractions, in calls. */
const ROUNDING_ERROR = 1e-6;

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Returns the `RateLimit-*` headers of the lower limit, and `Retry-After` if a field failed because of a rate limit. */
export function rateLimitHeaders({ allowance, cost, usage, errors }: RateLimitState): Readonly<Record<string, string>> {
  const upstream = usage?.rateLimit;
  if (allowance === undefined && upstream === undefined && errors === undefined) {
    return NO_HEADERS;
  }
  const own = allowance && afterCharge(allowance, cost);
  const { limit, remaining, resetSeconds } = lowerOf(own, upstream) ?? {};
  const retryAfterSeconds = findRetryAfter(errors);
  return {
    ...(limit !== undefined && { 'ratelimit-limit': String(limit) }),
    ...(remaining !== undefined && { 'ratelimit-remaining': String(remaining) }),
    ...(resetSeconds !== undefined && { 'ratelimit-reset': String(resetSeconds) }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

/**
 * Returns the state of the gateway's limit after the operation. One call was taken before it ran; the rest is computed here, because querying
 * the limiter again would delay the response. The limiter has already rounded both numbers, so `resetSeconds` can be one second too long, but never
 * too short, and with a fractional cost, `remaining` can be one call too few, but never too many.
 */
function afterCharge(
  { limit, remaining: before, resetSeconds: until, secondsPerCall }: AdmissionAllowance,
  cost: number,
): UpstreamRateLimit {
  const remaining = Math.min(limit, Math.max(0, Math.floor(before + 1 - cost + ROUNDING_ERROR)));
  const resetSeconds = remaining === limit ? 0 : Math.max(1, Math.ceil(until + (cost - 1) * secondsPerCall));
  return { limit, remaining, resetSeconds };
}

/** Returns the limit with fewer remaining calls. */
function lowerOf(
  own: UpstreamRateLimit | undefined,
  upstream: UpstreamRateLimit | undefined,
): UpstreamRateLimit | undefined {
  const isUpstream = (upstream?.remaining ?? Number.POSITIVE_INFINITY) < (own?.remaining ?? Number.POSITIVE_INFINITY);
  return isUpstream ? upstream : (own ?? upstream);
}

/** Returns the longest `retryAfterSeconds` of errors with the code RATE_LIMITED. */
function findRetryAfter(errors: RateLimitState['errors']): number | undefined {
  let longest: number | undefined;
  for (const { extensions } of errors ?? []) {
    if (typeof extensions === 'object' && extensions !== null && 'retryAfterSeconds' in extensions) {
      const { retryAfterSeconds } = extensions;
      if (typeof retryAfterSeconds === 'number' && 'code' in extensions && extensions.code === 'RATE_LIMITED') {
        longest = Math.max(longest ?? 0, retryAfterSeconds);
      }
    }
  }
  return longest;
}
