import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendRefusal } from './send-refusal.ts';

/** Rejects a request with `Expect: 100-continue` whose body is too large. Returns whether the request was rejected. */
export function refuseLargeBody(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number): boolean {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) {
    return false;
  }
  const message = `The request body is larger than ${maxBodyBytes} bytes. Send a smaller one.`;
  sendRefusal(response, { status: 413, code: 'PAYLOAD_TOO_LARGE', message, closes: true });
  return true;
}

/** Rejects a request with an `Expect` header other than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const message = 'The Expect header must be 100-continue.';
  sendRefusal(response, { status: 417, code: 'BAD_REQUEST', message, closes: true });
}
