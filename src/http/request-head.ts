import { refuse } from '../settings/refuse.ts';
import { type IncomingRequest, pathOf, queryOf } from './request.ts';

/** Parts of a request that the pipeline needs before its body is read. */
export interface RequestHead {
  method: 'GET' | 'POST';
  /** Query string, without the question mark. */
  query: string;
}

/** Headers that a browser sends to another origin only after a successful CORS preflight. */
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
 * Validates everything that precedes the body: path, method, CSRF headers, content type and acceptable media types.
 *
 * @param paths exact paths of the GraphQL endpoint
 * @param mediaType media type of the response; undefined if the client accepts none of the available types
 * @throws {Refusal} BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, CSRF_REFUSED, UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE
 */
export function readHead(
  request: IncomingRequest,
  paths: ReadonlySet<string>,
  mediaType: string | undefined,
): RequestHead {
  const { method } = request;
  if (request.target === undefined) {
    throw refuse('BAD_REQUEST', 'The Host header or the request target is invalid.', {
      headers: { connection: 'close' },
    });
  }
  if (!paths.has(request.target) && !paths.has(pathOf(request))) {
    throw refuse('NOT_FOUND', `Unknown path. The GraphQL endpoint is ${[...paths].join(' or ')}.`);
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

/** Requires a header that triggers a CORS preflight: without one, browsers send GET requests to any origin. */
function requirePreflight(request: IncomingRequest): void {
  if (!PREFLIGHTED_HEADERS.some((name) => request.header(name) !== undefined)) {
    throw refuse(
      'CSRF_REFUSED',
      'GET requests require a header that prevents cross-site request forgery: send Authorization, or "GraphQL-Require-Preflight: true".',
    );
  }
}

/** Requires an uncompressed JSON body. Browsers send forms and text to any origin without a preflight; compressed bodies could be bombs. */
export function requireJson(request: IncomingRequest): void {
  if (!isJsonType(request.header('content-type'))) {
    throw refuse(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the request as JSON, with the header "Content-Type: application/json".',
    );
  }
  if ((request.header('content-encoding') ?? 'identity') !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the request uncompressed, without a Content-Encoding header.');
  }
}
