import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from '../settings/refuse.ts';
import { bodyTooLarge } from './request-body.ts';
import { sendRefusal } from './send-refusal.ts';

/** Refuses a request that waits for permission to send a body that is too large. Returns whether it did. */
export function refuseLargeBody(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number): boolean {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) {
    return false;
  }
  sendRefusal(response, bodyTooLarge(maxBodyBytes), { closes: true });
  return true;
}

/** Refuses a request with an `Expect` other than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  sendRefusal(response, refuse('EXPECTATION_FAILED', 'The header Expect must be 100-continue.'), { closes: true });
}
