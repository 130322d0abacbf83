import type { RulesByClientKind } from '../auth/client-rules.ts';
import type { ClientKind } from '../auth/identity.ts';
import { CLIENT_NAME_HEADERS } from './client-name.ts';
import type { IncomingRequest, OutgoingResponse } from './request.ts';

/** Returns the CORS headers of a response. Origins that are not allowed get no `Access-Control-*` header. */
export type CorsHeaders = (
  origin: string | undefined,
  authorization: string | undefined,
) => Readonly<Record<string, string>>;

/** Response headers that web pages may read. */
const EXPOSED_HEADERS = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Creates the function that returns CORS headers.
 *
 * @param clientRules exact origins from which web pages may send each kind of credential
 */
export function createCorsHeaders(clientRules: RulesByClientKind): CorsHeaders {
  if (clientRules.anonymous.origins.size === 0) {
    return () => NO_HEADERS;
  }
  return (origin, authorization) =>
    origin !== undefined && clientRules[guessClientKind(authorization)].origins.has(origin)
      ? { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS }
      : { vary: 'Origin' };
}

/** Guesses the kind of client from the form of its credential, so that a page can read the error if the credential is rejected. */
function guessClientKind(authorization: string | undefined): ClientKind {
  if (authorization === undefined) {
    return 'anonymous';
  }
  return authorization.startsWith('Bearer ') ? 'browser' : 'server';
}

/** Headers that web pages may send. Credentials are sent in `Authorization`, never in cookies. */
const ALLOWED_HEADERS = [
  'authorization',
  'cache-control',
  'content-type',
  'idempotency-key',
  'x-request-id',
  'graphql-require-preflight',
  'traceparent',
  'tracestate',
  ...CLIENT_NAME_HEADERS,
];

/**
 * Responds to a preflight. The origins of all kinds of clients are allowed, because a preflight contains no credential.
 *
 * @param moreHeaders headers that web pages may send to this path, in addition to those of GraphQL requests
 */
export const respondPreflight = (
  request: IncomingRequest,
  clientRules: RulesByClientKind,
  moreHeaders: readonly string[] = [],
): OutgoingResponse =>
  clientRules.anonymous.origins.has(request.header('origin') ?? '')
    ? { status: 204, headers: preflightHeaders(moreHeaders), body: undefined }
    : { status: 405, headers: { allow: 'GET, POST' }, body: undefined };

const preflightHeaders = (moreHeaders: readonly string[]) => ({
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': [...ALLOWED_HEADERS, ...moreHeaders].join(', '),
  'access-control-max-age': '86400',
});
