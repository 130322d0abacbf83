import type { RulesByClientKind } from '../auth/client-rules.ts';
import type { ClientKind } from '../auth/identity.ts';
import type { IncomingRequest, OutgoingResponse } from './request.ts';

/** Returns the CORS headers of a response. Origins that are not allowed get no `Access-Control-*` header. */
export type CorsHeaders = (
  origin: string | undefined,
  authorization: string | undefined,
) => Readonly<Record<string, string>>;

/** Response headers that pages may read. */
const EXPOSED = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

const NONE: Readonly<Record<string, string>> = {};

/** @param clientRules the exact origins from which pages may send each kind of credential */
export function createCorsHeaders(clientRules: RulesByClientKind): CorsHeaders {
  if (clientRules.anonymous.origins.size === 0) {
    return () => NONE;
  }
  return (origin, authorization) =>
    origin !== undefined && clientRules[clientKindOf(authorization)].origins.has(origin)
      ? { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
      : { vary: 'Origin' };
}

/** Told by the form of the credential, so that a page can read why its own was refused. */
function clientKindOf(authorization: string | undefined): ClientKind {
  if (authorization === undefined) {
    return 'anonymous';
  }
  return authorization.startsWith('Bearer ') ? 'browser' : 'server';
}

/** Request headers that pages may send. Credentials travel in `Authorization`, never in cookies. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, x-request-id, graphql-require-preflight',
  'access-control-max-age': '86400',
};

/** Answers the preflight of an allowed origin. A preflight does not say which credential will be sent. */
export const respondPreflight = (request: IncomingRequest, clientRules: RulesByClientKind): OutgoingResponse =>
  clientRules.anonymous.origins.has(request.header('origin') ?? '')
    ? { status: 204, headers: PREFLIGHT_HEADERS, body: undefined }
    : { status: 405, headers: { allow: 'GET, POST' }, body: undefined };
