// Puts the heads of responses together.

import type { Cors } from './cors.ts';
import { type IncomingRequest, type OutgoingResponse, REQUEST_ID, toRequestId } from './message.ts';

/**
 * Returns the headers that every response has, also one that refuses the request, and its own.
 *
 * @param own headers of the response itself. @default none
 * @param requestId id of the request. @default that of the client, or a new one
 */
export function headOf(
  cors: Cors,
  request: IncomingRequest,
  own: OutgoingResponse['headers'] = {},
  requestId = toRequestId(request.header(REQUEST_ID)),
): OutgoingResponse['headers'] {
  const common = cors.headers(request);
  // Caches must not store a response: those of one path differ by credential and body.
  const head = { 'cache-control': 'no-store', [REQUEST_ID]: requestId, ...common, ...own };
  return own.vary === undefined || common.vary === undefined ? head : { ...head, vary: `${own.vary}, ${common.vary}` };
}
