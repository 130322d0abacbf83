import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from '../settings/refuse.ts';
import { bodyTooLarge } from './request-body.ts';
import { sendRefusal } from './send-refusal.ts';

/** Rejects a request with `Expect: 100-continue` whose body is too large. Returns whether the request was rejected. */
export function refuseLargeBody(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number): boolean {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) {
    return false;
  }
  sendRefusal(response, bodyTooLarge(maxBodyBytes), { closes: true });
  return true;
}

/** Rejects a request with an `Expect` header other than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  sendRefusal(response, refuse('EXPECTATION_FAILED', 'The Expect header must be 100-continue.'), { closes: true });
}
