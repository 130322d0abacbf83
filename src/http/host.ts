import { memoize } from '../lib/memoize.ts';

/** Host name or address, with an optional port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Maximum cached results. A gateway is reached under few hosts. */
const MAX_RESULTS = 100;

/**
 * Creates a function that validates the header `Host`, because an invalid one could change the path of a URL built from it. HTTP/1.0 requests
 * don't require the header.
 */
export function createHostCheck(): (host: string | undefined) => boolean {
  const isValid = memoize((host) => HOST.test(host) && URL.canParse(`http://${host}`), MAX_RESULTS);
  return (host) => host === undefined || isValid(host);
}
