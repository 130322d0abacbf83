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

/** Creates the refusal of a gateway that handles too many requests. */
export const gatewayOverloaded = (): Refusal =>
  refuse('OVERLOADED', 'The gateway is overloaded. Send the request again in a moment.', { retryAfterSeconds: 1 });

/** Creates the error for a body that is too large. The rest of it is never read, so the connection can't be reused. */
export const bodyTooLarge = (maxBytes: number): Refusal =>
  refuse('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes. Send a smaller one.`, {
    headers: { connection: 'close' },
  });
