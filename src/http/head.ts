// Requests and responses as the pipeline sees them, and the checks before the body arrives: path, method, protection against other sites, media types.

import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { refuse } from '../errors/codes.ts';
import { memoize } from '../lib/memoize.ts';
import type { Signal } from '../lib/signal.ts';
import { parseIpRange } from '../lib/urls.ts';
import type { GatewaySettings } from '../settings/settings.ts';

/** Request from `node:http` or the Fetch API, in the form that the pipeline reads. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query, as received; undefined if the host or the request target is not valid in a URL, or there is another `problem`. */
  readonly target: string | undefined;
  /** Why the request is malformed, in a sentence or two. @default the host or the target is not valid, if the latter is undefined */
  readonly problem?: string | undefined;
  /** Scheme that the client used, as far as it is known: behind a proxy, from `X-Forwarded-Proto`. */
  readonly scheme: 'http' | 'https';
  /** Host and port that the client addressed; undefined if it sent none. */
  readonly host: string | undefined;
  /** IP address at the other end of the connection; undefined if it is unknown. */
  readonly remoteAddress: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: Signal;
  /** Returns the value of a header. The name must be in lower case. */
  header(name: string): string | undefined;
  /**
   * Reads the body as UTF-8.
   *
   * @throws {Refusal} PAYLOAD_TOO_LARGE if it exceeds `maxBytes`, without reading the rest; BAD_REQUEST if it is not UTF-8;
   * CLIENT_CLOSED if the client disconnects; BODY_ALREADY_READ if the host has read it and left nothing
   */
  body(maxBytes: number): Promise<string>;
  /** Returns the request without its body as a Fetch `Request`, for plugins. */
  toFetchRequest(): Request;
}

/** Returns the scheme that the client used: `https` if the connection is encrypted, or was at the first of the proxies in front. */
export const schemeOf = (isEncrypted: boolean, request: Pick<IncomingRequest, 'header'>): IncomingRequest['scheme'] =>
  isEncrypted || /^\s*https\s*(?:,|$)/i.test(request.header('x-forwarded-proto') ?? '') ? 'https' : 'http';

export interface OutgoingResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Handles one request. Never rejects. */
export type HandleRequest = (request: IncomingRequest) => Promise<OutgoingResponse>;

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

/** Headers that a browser sends to another origin only after a successful CORS preflight. */
const PREFLIGHTED_HEADERS = [
  'authorization',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-requested-with',
];

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
    requirePreflight(request);
  } else {
    requireJson(request);
  }
  if (mediaType === undefined) {
    throw refuse('NOT_ACCEPTABLE', 'Accept application/graphql-response+json or application/json, in UTF-8.');
  }
  return method;
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
  if (!/^(?:identity)?$/i.test(request.header('content-encoding') ?? '')) {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the request uncompressed, without a Content-Encoding header.');
  }
}

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Maximum cached results. Clients send few different headers. */
const MAX_RESULTS = 100;

/** Maximum length of a cached header. Longer ones are parsed each time. */
const MAX_LENGTH = 500;

/**
 * Creates the function that returns the media type of a response for an `Accept` header; undefined if none of its types is available. Results are
 * cached, because parsing the header costs more than a pipeline step.
 */
export function createNegotiateMediaType() {
  const chooseOnce = memoize(choose, MAX_RESULTS);
  return (accept: string | undefined): string | undefined => {
    const types = accept || '*/*';
    return types.length > MAX_LENGTH ? choose(types) : chooseOnce(types);
  };
}

/** Quoted value of a parameter. One without an end reaches to the end of the header. */
const QUOTED = /"(?:[^"\\]|\\.)*\\?(?:"|$)/g;

/**
 * Returns the available type with the highest weight (RFC 9110, 12.5.1). The weight of a type is that of the entry that names it most precisely.
 * Of types with the same weight, an exactly named one is preferred to a wildcard, then the first in the list, then JSON.
 */
function choose(accept: string): string | undefined {
  const text = accept.toLowerCase().replace(QUOTED, (value) => value.replace(/[",;\\]/g, ''));
  const ranges = text.replace(/\s/g, '').split(',').filter(Boolean).map(toMediaRange);
  const offers = [JSON_TYPE, GRAPHQL_TYPE].flatMap((type) => {
    const matches = ranges.map((range) => ({ ...range, type, precision: precisionOf(range, type) }));
    const [best] = matches.sort((a, b) => b.precision - a.precision);
    return best !== undefined && best.precision >= 0 && best.weight > 0 ? [best] : [];
  });
  const [chosen] = offers.sort(
    (a, b) => b.weight - a.weight || Math.floor(b.precision) - Math.floor(a.precision) || a.index - b.index,
  );
  return chosen && `${chosen.type}; charset=utf-8`;
}

function toMediaRange(entry: string, index: number) {
  const [, charset] = /;charset=([^;]*)/.exec(entry) ?? [];
  const [, weight = 1] = /;q=([01](?:\.\d*)?)(?:;|$)/.exec(entry) ?? [];
  return { range: entry.split(';', 1)[0] ?? '', charset, weight: Math.min(1, Number(weight)), index };
}

/** Returns how precisely an entry names a type; a negative number if it doesn't. */
function precisionOf({ range, charset }: ReturnType<typeof toMediaRange>, type: string): number {
  return charset === undefined || /^utf-?8$/.test(charset) // Some clients leave out the dash.
    ? ['*/*', 'application/*', type].indexOf(range) + (charset === undefined ? 0 : 0.5)
    : -1;
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

/** Name and version that a client gives itself, for metrics and the log. Not verified: any client can give any name. */
export interface ClientName {
  /** Name of the app; undefined if it gave none, or none of the accepted form. */
  client: string | undefined;
  clientVersion: string | undefined;
}

/** Headers with the name and version. Apollo Client sends its own. */
const HEADERS = [
  ['x-graphql-client-name', 'x-graphql-client-version'],
  ['apollographql-client-name', 'apollographql-client-version'],
] as const;

/** Form of names and versions, such as `@acme/web` and `1.4.0-beta+5`. It excludes tokens and everything that needs escaping. */
const CLIENT_NAME_FORM = /^[\w@][\w .@/+:-]{0,63}$/;

const NO_NAME: ClientName = { client: undefined, clientVersion: undefined };

/** Reads the name and version of the client from the first pair of headers that has a name. */
export function readClientName(request: IncomingRequest): ClientName {
  for (const [nameHeader, versionHeader] of HEADERS) {
    const name = request.header(nameHeader);
    if (name !== undefined) {
      return { client: acceptable(name), clientVersion: acceptable(request.header(versionHeader)) };
    }
  }
  return NO_NAME;
}

const acceptable = (text: string | undefined): string | undefined =>
  text !== undefined && CLIENT_NAME_FORM.test(text) ? text : undefined;

/** Form of ids from clients, which must fit into a header and a log line. */
const REQUEST_ID_FORM = /^[\w.:-]{1,128}$/;

/** Name of the header with the request id, in requests and responses. */
export const REQUEST_ID = 'x-request-id';

/** Keeps caches from storing a response: those of one path differ by credential and body. */
export const NOT_STORED = { 'cache-control': 'no-store' } as const;

/** Returns the client's id if it is acceptable, otherwise a new one. */
export const toRequestId = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID_FORM.test(given) ? given : randomUUID();

/**
 * Creates a function that returns the IP address of a client; undefined if it is not logged, or unknown. It believes only trusted proxies, each
 * of which adds the address of its own client at the end of a header: that of another client could be invented.
 */
export function createAddressOf(
  trustedProxies: GatewaySettings['trustedProxies'],
): (request: Pick<IncomingRequest, 'remoteAddress' | 'header'>) => string | undefined {
  if (trustedProxies === undefined) {
    return () => undefined;
  }
  const { addresses, header } = trustedProxies;
  const ranges = addresses.flatMap((each) => parseIpRange(each) ?? []);
  return (request) => {
    let address = request.remoteAddress && normalize(request.remoteAddress);
    const text = request.header(header.toLowerCase()) ?? '';
    for (const sender of (header === 'Forwarded' ? sendersIn(text) : text.split(',')).reverse()) {
      const next = normalize(sender);
      if (address === undefined || isIP(next) === 0 || !ranges.some((range) => range(address ?? ''))) {
        break;
      }
      address = next;
    }
    return address;
  };
}

/** Quoted value in the header `Forwarded` (RFC 7239, 4). A quote in another place was sent by a client that left it open. */
const QUOTED_VALUE = /(?<==)"(?:[^"\\]|\\.)*"(?=\s*(?:[;,]|$))/g;

/** Returns the senders that the header names, which can be empty. One with an open quote names none. */
const sendersIn = (forwarded: string): string[] =>
  forwarded
    .replace(QUOTED_VALUE, (value) => value.replace(/[",;\\]/g, ''))
    .split(',')
    .filter((element) => /[^\s;]/.test(element)) // Lists can have empty elements (RFC 9110, 5.6.1.2).
    .map((element) => /^(?=[^"]*$)(?:.*;)?\s*for=([^;]*)/i.exec(element)?.[1] ?? '');

/** Returns an address without quotes, port and zone, and an IPv4 address in its own form. */
const normalize = (text: string): string =>
  text
    .trim()
    .replace(/^"?\[?(.*?)(?:\](?::\d+)?)?"?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*/, '');

/**
 * Returns a Fetch `Request` that is built when a plugin first reads anything but its method. Building one costs as much as a pipeline step,
 * and Yoga itself reads only the method. An accessor of each context would take 1 KB more.
 */
export const lazyRequest = (incoming: IncomingRequest): Request => new Proxy(Request.prototype, new Handler(incoming));

/** Proxy handler that reads from the request and never from the proxy's target. */
class Handler implements ProxyHandler<Request> {
  readonly #incoming: IncomingRequest;
  #request: Request | undefined;

  constructor(incoming: IncomingRequest) {
    this.#incoming = incoming;
  }

  get(_target: Request, name: string | symbol): unknown {
    if (name === 'method') {
      return this.#incoming.method;
    }
    const request = this.#build();
    const value: unknown = Reflect.get(request, name, request);
    return typeof value === 'function' ? value.bind(request) : value;
  }

  has(_target: Request, name: string | symbol): boolean {
    return Reflect.has(this.#build(), name);
  }

  getPrototypeOf(): object {
    return Request.prototype;
  }

  #build(): Request {
    this.#request ??= this.#incoming.toFetchRequest();
    return this.#request;
  }
}
