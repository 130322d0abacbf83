import type { ServerResponse } from 'node:http';

/** A name or an address, and a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a header `Host` is none that would make another address of the request: Yoga builds a URL with it. Before HTTP/1.1 there was none. */
export const isHost = (host: string | undefined): boolean => host === undefined || HOST.test(host);

export function refuseHost(response: ServerResponse): void {
  const message = 'The header Host must be a name or an address, with a port or without.';
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code: 'BAD_REQUEST', retryable: false } }] }));
}
