import type { RulesByClientKind } from '../auth/client-rules.ts';
import type { Identity } from '../auth/identity.ts';
import type { Allowance, RateLimiter } from '../rate-limits/rate-limiter.ts';
import type { Usage } from '../upstream/client.ts';

/** State of a rate limit, with the time in which one call is refilled. */
export type AdmissionAllowance = Allowance & { secondsPerCall: number };

/** Applies the rate limits of all kinds of clients. */
export interface Admission {
  /** Takes one call before the operation runs. Returns undefined if there is no limit. */
  take(identity: Identity): AdmissionAllowance | undefined | Promise<AdmissionAllowance>;
  /** Returns the cost of an operation in calls. With reads that needed no call of their own, it may be a fraction. */
  costOf(usage: Readonly<Usage> | undefined): number;
  /** Charges the difference between the cost of an operation and the call already taken. */
  charge(identity: Identity, cost: number): void;
}

/** Options of `createAdmission`. */
export interface AdmissionOptions {
  limiter: RateLimiter;
  clientRules: RulesByClientKind;
  /** Calls that a read costs which the cache answers, or which joins a call in flight, from 0 to 1. @default 1 */
  rateLimitCost?: number | undefined;
}

/** Creates the admission with a rate limiter and the limits of each kind of client. */
export function createAdmission({ limiter, clientRules, rateLimitCost = 1 }: AdmissionOptions): Admission {
  const joinedReadCost = rateLimitCost || 1; // Never free: it waits for the service, and takes room in the gateway.
  return {
    take({ clientKind, callerId }) {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit === undefined) {
        return undefined;
      }
      const secondsPerCall = rateLimit.perSeconds / rateLimit.calls;
      const allowance = limiter.take(callerId, rateLimit, 1);
      return allowance instanceof Promise
        ? allowance.then((taken) => Object.assign(taken, { secondsPerCall }))
        : Object.assign(allowance, { secondsPerCall });
    },
    costOf: (usage) =>
      usage === undefined
        ? 0
        : usage.requests + rateLimitCost * (usage.cached ?? 0) + joinedReadCost * (usage.shared ?? 0),
    charge({ clientKind, callerId }, cost) {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit !== undefined && cost !== 1) {
        void limiter.charge(callerId, rateLimit, cost - 1);
      }
    },
  };
}
