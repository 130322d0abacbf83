import type { Allowance } from '../rate-limits/rate-limiter.ts';
import type { UpstreamRateLimit, Usage } from '../upstream/client.ts';
import type { AdmissionAllowance } from './admission.ts';

/** What an answer says about limits. */
export interface RateLimitState {
  /** Of the gateway's own limit, when the operation was let in; undefined: it has none. */
  allowance: (Allowance & Partial<AdmissionAllowance>) | undefined;
  /** What the operation has cost, and what the service said about its own limit. */
  usage: Readonly<Usage> | undefined;
  /** The answer's errors, as the client sees them. */
  errors?: readonly { extensions?: unknown }[] | undefined;
}

const NONE: Readonly<Record<string, string>> = {};

/** The headers `RateLimit-*` of the limit that is nearer, and `Retry-After` where a part of the answer failed for a limit. */
export function rateLimitHeaders({ allowance, usage, errors }: RateLimitState): Readonly<Record<string, string>> {
  const upstream = usage?.rateLimit;
  if (allowance === undefined && upstream === undefined && errors === undefined) {
    return NONE;
  }
  const own = allowance && afterwards(allowance, usage?.requests ?? 0);
  const { limit, remaining, resetSeconds } = nearer(own, upstream) ?? {};
  const retryAfterSeconds = findRetryAfter(errors);
  return {
    ...(limit !== undefined && { 'ratelimit-limit': String(limit) }),
    ...(remaining !== undefined && { 'ratelimit-remaining': String(remaining) }),
    ...(resetSeconds !== undefined && { 'ratelimit-reset': String(resetSeconds) }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

/**
 * One call was taken before; what the operation cost is known now. The limiter is not asked again, for the answer would wait for it. The
 * time until everything is there again is whole seconds already, so it can be one second longer than it is, never shorter.
 */
function afterwards(
  { limit, remaining: before, resetSeconds: until, secondsPerCall = 0 }: NonNullable<RateLimitState['allowance']>,
  calls: number,
): UpstreamRateLimit {
  const remaining = Math.min(limit, Math.max(0, before + 1 - calls));
  const resetSeconds = remaining === limit ? 0 : Math.max(1, Math.ceil(until + (calls - 1) * secondsPerCall));
  return { limit, remaining, resetSeconds };
}

function nearer(
  own: UpstreamRateLimit | undefined,
  upstream: UpstreamRateLimit | undefined,
): UpstreamRateLimit | undefined {
  const isUpstream = (upstream?.remaining ?? Number.POSITIVE_INFINITY) < (own?.remaining ?? Number.POSITIVE_INFINITY);
  return isUpstream ? upstream : (own ?? upstream);
}

/** The longest wait that an error asks for because of a limit. */
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
