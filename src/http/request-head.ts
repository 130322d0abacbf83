import { refuse } from '../settings/refuse.ts';
import { type IncomingRequest, pathOf, queryOf } from './request.ts';

/** Parts of a request that the pipeline needs before its body is read. */
export interface RequestHead {
  method: 'GET' | 'POST';
  /** Query string, without the question mark. */
  query: string;
}

/** One of these headers proves that a browser asked the server before sending a GET from another origin. */
const PREFLIGHTED_HEADERS = [
  'authorization',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-requested-with',
];

/** Whether a Content-Type header announces JSON. */
const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');

/**
 * Checks everything that is known before the body: path, method, CSRF, body type and acceptable response types.
 *
 * @param endpoint exact path of the GraphQL endpoint
 * @param mediaType the response's media type; undefined: the client accepts none that is available
 * @throws {Refusal} BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, CSRF_REFUSED, UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE
 */
export function readHead(request: IncomingRequest, endpoint: string, mediaType: string | undefined): RequestHead {
  const { method } = request;
  if (request.target === undefined) {
    throw refuse('BAD_REQUEST', 'The header Host or the request target is not part of a valid URL.', {
      headers: { connection: 'close' },
    });
  }
  if (request.target !== endpoint && pathOf(request) !== endpoint) {
    throw refuse('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${endpoint}.`);
  }
  if (method !== 'GET' && method !== 'POST') {
    throw refuse('METHOD_NOT_ALLOWED', 'Use POST, or GET for queries.', { headers: { allow: 'GET, POST' } });
  }
  if (method === 'GET') {
    requirePreflight(request);
  } else {
    requireJson(request);
  }
  if (mediaType === undefined) {
    throw refuse('NOT_ACCEPTABLE', 'Accept application/graphql-response+json or application/json, in UTF-8.');
  }
  return { method, query: queryOf(request) };
}

/** Browsers send a GET without these headers to any origin unasked; with one of them they ask first. */
function requirePreflight(request: IncomingRequest): void {
  if (!PREFLIGHTED_HEADERS.some((name) => request.header(name) !== undefined)) {
    throw refuse(
      'CSRF_REFUSED',
      'A GET request needs a header that proves it does not come from another site: send Authorization, or "GraphQL-Require-Preflight: true".',
    );
  }
}

/** Requires an uncompressed JSON body: browsers send forms and text to any origin unasked, and compressed bodies could be bombs. */
export function requireJson(request: IncomingRequest): void {
  if (!isJsonType(request.header('content-type'))) {
    throw refuse(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the request as JSON, with the header "Content-Type: application/json".',
    );
  }
  if ((request.header('content-encoding') ?? 'identity') !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the request uncompressed, without the header Content-Encoding.');
  }
}
