import type { RulesByClientKind } from '../auth/client-rules.ts';
import type { Identity } from '../auth/identity.ts';
import type { Allowance, RateLimiter } from '../rate-limits/rate-limiter.ts';

/** An allowance, and how fast its limit is filled up again. */
export type AdmissionAllowance = Allowance & { secondsPerCall: number };

/** Lets operations in as far as the rate limit of their kind of client allows. */
export interface Admission {
  /** Takes one call before the operation runs; undefined: there is no limit. */
  take(identity: Identity): AdmissionAllowance | undefined | Promise<AdmissionAllowance>;
  /** Counts what an operation that was let in has cost. */
  charge(identity: Identity, calls: number): void;
}

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
