// Reads the head of a request: path, query, host and cache directives, and what is checked before the body arrives.

import { refuse } from '../errors/codes.ts';
import { memoize } from '../lib/memoize.ts';
import { isLoopbackHost, toHostname } from '../lib/urls.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { IncomingRequest } from './message.ts';

/** Returns the path of a request, without its query. */
export function pathOf({ target = '' }: IncomingRequest): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** Returns the query string of a request, without the question mark. */
export function queryOf({ target = '' }: IncomingRequest): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

/** Path at which servers get tokens for their frontends. */
export const CLIENT_TOKENS_PATH = '/client-tokens';

/** Path at which AI agents call tools. */
export const MCP_PATH = '/mcp';

/** Headers that a browser sends to another origin only after a successful CORS preflight, and never by itself. */
const PREFLIGHTED_HEADERS = ['graphql-require-preflight', 'apollo-require-preflight', 'x-requested-with'];

const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');

/**
 * Validates everything that precedes the body: path, method, CSRF headers, content type and acceptable media types.
 *
 * @param paths exact paths of the GraphQL endpoint
 * @param mediaType media type of the response; undefined if the client accepts none of the available types
 * @returns the method
 * @throws {Refusal} BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, CSRF_REFUSED, UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE
 */
export function readHead(
  request: IncomingRequest,
  paths: ReadonlySet<string>,
  mediaType: string | undefined,
): 'GET' | 'POST' {
  const { method } = request;
  if (request.target === undefined) {
    throw refuse('BAD_REQUEST', request.problem ?? 'The Host header or the request target is invalid.', {
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
    requirePreflight(request, 'Authorization');
  } else {
    requireJson(request);
  }
  if (mediaType === undefined) {
    throw refuse('NOT_ACCEPTABLE', 'Accept application/graphql-response+json or application/json, in UTF-8.');
  }
  return method;
}

/**
 * Requires a header that triggers a CORS preflight of a GET request: without one, browsers send it to any origin.
 *
 * @param credentials further headers that trigger one. `authorization` does if a page sets it, but a browser adds the password of a site by itself
 * @throws {Refusal} CSRF_REFUSED
 */
export function requirePreflight(request: IncomingRequest, ...credentials: 'Authorization'[]): void {
  const names = [...credentials, ...PREFLIGHTED_HEADERS];
  if (request.method === 'GET' && !names.some((name) => request.header(name.toLowerCase()) !== undefined)) {
    const accepted = [...credentials, '"GraphQL-Require-Preflight: true"'].join(', or ');
    throw refuse(
      'CSRF_REFUSED',
      `GET requests require a header that prevents cross-site request forgery: send ${accepted}.`,
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
  if (!/^(?:identity)?$/i.test(request.header('content-encoding') ?? '')) {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the request uncompressed, without a Content-Encoding header.');
  }
}

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

/** Maximum cached hosts. A gateway is reached under few of them. */
export const MAX_HOSTS = 100;

/** Returns the host in the form of `settings.upstreams`: without port, in lower case, and an absolute name without its last dot. */
export const hostnameOf = (host: string): string => toHostname(URL.parse(`http://${host}`)?.hostname ?? '');

/**
 * Creates the function that tells whether a `Host` is that of this machine, or configured. A page of any other name could be an attacker's, whose name
 * was given the gateway's address (DNS rebinding). Requests without a `Host` come from no browser.
 */
export function createKnownHosts({ hosts, upstreams }: Pick<GatewaySettings, 'hosts' | 'upstreams'>) {
  const known = new Set([...hosts, ...Object.values(upstreams ?? {}).flatMap((upstream) => upstream.hosts ?? [])]);
  const isKnown = memoize((host) => {
    const name = hostnameOf(host);
    return isLoopbackHost(name) || name.endsWith('.localhost') || known.has(name);
  }, MAX_HOSTS);
  return (host: string | undefined): boolean => host === undefined || isKnown(host);
}
