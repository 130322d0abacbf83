import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendRefusal } from './send-refusal.ts';

/** Refuses a request that waits for permission to send a body that is too large. Returns whether it did. */
export function refuseLargeBody(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number): boolean {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) {
    return false;
  }
  const message = `The request is larger than ${maxBodyBytes} bytes. Send a smaller one.`;
  sendRefusal(response, { status: 413, code: 'PAYLOAD_TOO_LARGE', message, closes: true });
  return true;
}

/** Refuses a request with an `Expect` other than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const message = 'The header Expect may only be 100-continue.';
  sendRefusal(response, { status: 417, code: 'BAD_REQUEST', message, closes: true });
}
