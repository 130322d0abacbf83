import type { RulesByClientKind } from '../auth/client-rules.ts';
import type { Identity } from '../auth/identity.ts';
import type { Allowance, RateLimiter } from '../rate-limits/rate-limiter.ts';

/** State of a rate limit, with the time in which one call is refilled. */
export type AdmissionAllowance = Allowance & { secondsPerCall: number };

/** Applies the rate limits of all kinds of clients. */
export interface Admission {
  /** Takes one call before the operation runs. Returns undefined if there is no limit. */
  take(identity: Identity): AdmissionAllowance | undefined | Promise<AdmissionAllowance>;
  /** Charges the difference between the upstream calls of an operation and the one already taken. */
  charge(identity: Identity, calls: number): void;
}

/** Creates the admission with a rate limiter and the limits of each kind of client. */
export function createAdmission(limiter: RateLimiter, clientRules: RulesByClientKind): Admission {
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
    charge({ clientKind, callerId }, calls) {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit !== undefined && calls !== 1) {
        void limiter.charge(callerId, rateLimit, calls - 1);
      }
    },
  };
}
