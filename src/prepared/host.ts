import type { ServerResponse } from 'node:http';
import { remember } from '../remember.ts';

/** A name or an address, and a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Hosts that are remembered; there are few. */
const MAX_REMEMBERED = 100;

/**
 * Whether a header `Host` is one: Yoga builds a URL with it, which another text would make a different one, or none. Before HTTP/1.1 there
 * was none.
 */
export function createIsHost(): (host: string | undefined) => boolean {
  const isKnown = remember((host) => HOST.test(host) && URL.canParse(`http://${host}`), MAX_REMEMBERED);
  return (host) => host === undefined || isKnown(host);
}

/** Whether what is asked for can be part of a URL. */
export const isTarget = (target = '/'): boolean => URL.canParse(target, 'http://localhost');

export function refuseAddress(response: ServerResponse): void {
  const message = 'The request has no address: the header Host, or what is asked for, cannot be part of a URL.';
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code: 'BAD_REQUEST', retryable: false } }] }));
}
