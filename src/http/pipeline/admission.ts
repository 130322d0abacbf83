// Applies the rate limits of clients, and reports them in headers.

import type { Identity, RulesByClientKind } from '../../auth/identity.ts';
import { type Refusal, refuse } from '../../errors/codes.ts';
import { isPromise } from '../../lib/promises.ts';
import type { Allowance, RateLimiter } from '../../rate-limits/rate-limiter.ts';
import type { Usage } from '../../telemetry/usage.ts';
import type { RateLimitState } from '../../upstream/errors.ts';

/** State of a rate limit, with the time in which one call is refilled. */
export type AdmissionAllowance = Allowance & { secondsPerCall: number };

/** Applies the rate limits of all kinds of clients. */
export function createAdmission(limiter: RateLimiter, clientRules: RulesByClientKind) {
  return {
    /**
     * Takes one call from the caller's rate limit. The rest is charged when the operation is done and its cost is known.
     *
     * @returns undefined if the caller has no limit
     * @throws {Refusal} RATE_LIMITED
     */
    take({ clientKind, callerId }: Identity): AdmissionAllowance | undefined | Promise<AdmissionAllowance> {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit === undefined) {
        return undefined;
      }
      const secondsPerCall = rateLimit.perSeconds / rateLimit.calls;
      const allowance = limiter.take(callerId, rateLimit, 1);
      return isPromise(allowance)
        ? allowance.then((taken) => requireAllowed(taken, secondsPerCall))
        : requireAllowed(allowance, secondsPerCall);
    },
    /**
     * Returns the cost of an operation in calls. A read that the cache answers, or that joins a call, counts too: a client's limit must not depend on
     * others. If all calls were refused, because too many wait, for example, the first one counts.
     */
    costOf: (usage: Readonly<Usage> | undefined): number =>
      usage === undefined ? 0 : usage.requests + usage.cached + usage.shared || Number(usage.hasCalls),
    /** Charges the difference between the cost of an operation and the call already taken. */
    charge({ clientKind, callerId }: Identity, cost: number): void {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit !== undefined && cost !== 1) {
        void limiter.charge(callerId, rateLimit, cost - 1);
      }
    },
  };
}

function requireAllowed(allowance: Allowance, secondsPerCall: number): AdmissionAllowance {
  if (allowance.isAllowed) {
    return Object.assign(allowance, { secondsPerCall });
  }
  throw rateLimited('of this gateway', allowance, rateLimitHeaders(allowance));
}

/** Creates the refusal of a request that exceeds a rate limit: `of this gateway`, for example. */
export const rateLimited = (limit: string, { retryAfterSeconds = 1 }: Allowance, headers: Refusal['headers'] = {}) =>
  refuse('RATE_LIMITED', `The rate limit ${limit} is exceeded. Send the request again later.`, {
    retryAfterSeconds,
    headers,
  });

/** Returns the headers that report a rate limit, as far as it is known. */
export const rateLimitHeaders = ({ limit, remaining, resetSeconds }: Partial<RateLimitState>): Refusal['headers'] => ({
  ...(limit !== undefined && { 'ratelimit-limit': String(limit) }),
  ...(remaining !== undefined && { 'ratelimit-remaining': String(remaining) }),
  ...(resetSeconds !== undefined && { 'ratelimit-reset': String(resetSeconds) }),
});
