// Sends the responses with which the server rejects requests itself.

import type { ServerResponse } from 'node:http';
import { type Refusal, refusalErrors } from '../../../../src/errors/codes.ts';

/**
 * Sends the response to a request that is rejected before the gateway sees it. The connection is closed if the rest of the request will not
 * be read.
 *
 * @param headers those that every response to the request has. @default only that it is not stored
 */
export function sendRefusal(
  response: ServerResponse,
  refusal: Refusal,
  { closes = false, headers = {} }: { closes?: boolean; headers?: Refusal['headers'] } = {},
): void {
  const body = Buffer.from(JSON.stringify({ errors: refusalErrors(refusal, {}) }));
  response.writeHead(refusal.status, {
    'cache-control': 'no-store',
    ...headers,
    'content-type': 'application/json',
    'content-length': body.length,
    ...refusal.headers,
    ...(closes && { connection: 'close' }),
  });
  response.end(body);
}
