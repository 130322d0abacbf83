import type { Identity } from '../auth/identity.ts';
import { refuse } from '../settings/refuse.ts';
import type { Admission, AdmissionAllowance } from './admission.ts';

/**
 * Takes one call from the caller's rate limit. The rest is charged when the operation is done and its cost is known.
 *
 * @returns undefined if the caller has no limit
 * @throws {Refusal} RATE_LIMITED
 */
export function takeAllowance(
  admission: Admission,
  identity: Identity,
): AdmissionAllowance | undefined | Promise<AdmissionAllowance> {
  const allowance = admission.take(identity);
  return allowance instanceof Promise ? allowance.then(requireAllowed) : allowance && requireAllowed(allowance);
}

function requireAllowed(allowance: AdmissionAllowance): AdmissionAllowance {
  if (allowance.isAllowed) {
    return allowance;
  }
  const { limit, remaining, resetSeconds, retryAfterSeconds = 1 } = allowance;
  throw refuse('RATE_LIMITED', 'The rate limit of this gateway is exceeded. Send the request again later.', {
    retryAfterSeconds,
    headers: {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': String(resetSeconds),
    },
  });
}
