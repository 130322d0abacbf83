import { createHash } from 'node:crypto';
import type { SandboxResponse } from './response.ts';

/** Adds a weak `ETag` to the response to a read. Returns 304 if the client already has this version. */
export function withETag(response: SandboxResponse, ifNoneMatch: string | undefined): SandboxResponse {
  if (response.status !== 200 || response.body === null) {
    return response;
  }
  const opaqueTag = `"${createHash('sha256').update(response.body).digest('base64url').slice(0, 27)}"`;
  const headers = { ...response.headers, ETag: `W/${opaqueTag}` };
  return matches(ifNoneMatch, opaqueTag) ? { status: 304, body: null, headers } : { ...response, headers };
}

/** Whether `If-None-Match` lists the tag, compared weakly (RFC 9110, section 13.1.2). */
const matches = (ifNoneMatch: string | undefined, opaqueTag: string): boolean =>
  ifNoneMatch === '*' || (ifNoneMatch ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaqueTag);
