import { memoize } from '../lib/memoize.ts';

/** A name or an address, and a port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** A gateway is reached by few hosts. */
const MAX_RESULTS = 100;

/** Returns a check of the header `Host`: with another text, a URL built from it would be a different one. HTTP/1.0 has none. */
export function createIsHost(): (host: string | undefined) => boolean {
  const isKnown = memoize((host) => HOST.test(host) && URL.canParse(`http://${host}`), MAX_RESULTS);
  return (host) => host === undefined || isKnown(host);
}
