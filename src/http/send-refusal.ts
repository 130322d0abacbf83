import type { ServerResponse } from 'node:http';
import { type Refusal, refusalErrors } from '../lib/refusal.ts';

/**
 * Sends the response to a request that is rejected before the gateway sees it. The connection is closed if the rest of the request will not
 * be read.
 */
export function sendRefusal(response: ServerResponse, refusal: Refusal, { closes = false } = {}): void {
  const body = Buffer.from(JSON.stringify({ errors: refusalErrors(refusal, {}) }));
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...refusal.headers,
    ...(closes && { connection: 'close' }),
  });
  response.end(body);
}
