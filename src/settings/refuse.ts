import { Refusal, type RefusalError } from '../lib/refusal.ts';
import { ERROR_CODES, type RefusalCode } from './error-codes.ts';

/** Details of a refusal besides its code and message. */
export interface RefusalDetails extends Pick<RefusalError, 'retryAfterSeconds' | 'reason' | 'scope'> {
  headers?: Readonly<Record<string, string>>;
}

/** Creates a refusal with the status and `retryable` of its code. `retryAfterSeconds` is also sent as `Retry-After`. */
export function refuse(code: RefusalCode, message: string, { headers, ...details }: RefusalDetails = {}): Refusal {
  const { status, retryable } = ERROR_CODES[code];
  const { retryAfterSeconds } = details;
  return new Refusal(status, [{ code, message, retryable, ...details }], {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...headers,
  });
}
