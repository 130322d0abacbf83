import { headerOf } from './body.ts';
import type { Headers } from './receive.ts';

/** `ETag` (RFC 9110, section 8.8.3) of at most 256 characters. Without bytes above ASCII, which `If-None-Match` could change. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,250}"$/;

/** Returns the `ETag` of a response; undefined if there is none, or it can't be sent back safely. */
export function readETag(headers: Headers): string | undefined {
  const etag = headers.etag === undefined ? undefined : headerOf(headers, 'etag');
  return etag !== undefined && ETAG.test(etag) ? etag : undefined;
}
