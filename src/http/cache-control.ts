import type { IncomingRequest } from './request.ts';

/**
 * Directives that ask for a response from the service itself (RFC 9111, 5.2.1). Browsers send the second one for `fetch(…, { cache: 'no-cache' })`.
 * `no-store` would ask for more: that the response isn't stored either.
 */
const BYPASS = /(?:^|,)\s*(?:no-cache|max-age="?0+"?)\s*(?:,|$)/i;

/** Whether the client asks for current data, past the cache. */
export function bypassesCache(request: IncomingRequest): boolean {
  const directives = request.header('cache-control');
  return directives !== undefined && BYPASS.test(directives);
}
