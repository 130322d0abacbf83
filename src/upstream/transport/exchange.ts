// Writes requests and reads responses in the form that they have on the wire.

import { USER_AGENT } from '../../lib/installation.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { TraceHeaders, UpstreamRequest, UpstreamResult } from '../calls.ts';
import type { DriftCheck } from '../contract/drift.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import type { RateLimitState } from '../errors.ts';
import type { Headers, UpstreamResponse } from './attempt.ts';
import { headerOf, readErrorBody, readSuccess } from './body.ts';
import type { PoolRequest } from './socket-pool.ts';
import { errorFromResponse, parseRetryAfter } from './to-error.ts';

/** Returns a request in undici's form. Headers of the client's request are not forwarded. */
export function toDispatchOptions(
  origin: string,
  { endpoint, credential, path, requestId, args, headers: declared, body, known }: UpstreamRequest,
  traceHeaders: TraceHeaders | undefined,
): PoolRequest {
  const headers: Record<string, string> = {
    authorization: credential,
    accept: endpoint.expect === 'text' ? '*/*' : 'application/json',
    'user-agent': USER_AGENT,
    'x-request-id': requestId,
  };
  if (body !== undefined) {
    headers['content-type'] = contentTypeOf(endpoint);
  }
  if (args.idempotencyKey !== undefined) {
    headers['idempotency-key'] = args.idempotencyKey;
  }
  if (known !== undefined) {
    headers['if-none-match'] = known.etag;
  }
  if (declared !== undefined) {
    Object.assign(headers, declared);
  }
  return {
    origin,
    path,
    method: endpoint.method,
    headers: traceHeaders === undefined ? headers : Object.assign(headers, traceHeaders),
    body: body ?? null,
  };
}

export const contentTypeOf = ({ bodyFormat }: DeclaredEndpoint): string =>
  bodyFormat === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';

/** Whether a response is the stored one to an earlier request with the same idempotency key. */
export const isReplay = ({ args }: UpstreamRequest, { headers }: UpstreamResponse): boolean =>
  args.idempotencyKey !== undefined && headerOf(headers, 'idempotency-replay') === 'true';

/**
 * Decodes a response.
 *
 * @param checkDrift called with the body of a successful response
 * @param upstreamHeaders headers that every request has, by name
 * @throws {UpstreamError | BodyError} if it isn't a success
 */
export function readResponse(
  request: UpstreamRequest,
  response: UpstreamResponse,
  rateLimit: RateLimitState | undefined,
  checkDrift: DriftCheck | undefined,
  upstreamHeaders: ReadonlyMap<string, string>,
): UpstreamResult {
  const { endpoint, known } = request;
  const { status, headers } = response;
  const bytes = response.body?.byteLength ?? 0;
  if (status <= 299) {
    const { sent, body } = readSuccess(response, endpoint);
    if (sent !== undefined) {
      checkDrift?.(endpoint, sent);
    }
    const result: UpstreamResult = { status, body, replayed: isReplay(request, response), rateLimit, bytes };
    const etag = endpoint.method === 'GET' ? readETag(headers) : undefined;
    if (etag !== undefined) {
      result.etag = etag;
    }
    if (endpoint.clears) {
      result.uncleared = findUncleared(request.args.body, body);
      result.date = headerOf(headers, 'date');
    }
    if (endpoint.confirms.length > 0) {
      result.unapplied = findUnapplied(endpoint.confirms, request.args.body, body);
    }
    return result;
  }
  if (status === 304 && known !== undefined) {
    return { status, body: known.body, replayed: false, rateLimit, etag: known.etag, bytes: known.bytes };
  }
  throw errorFromResponse(
    { ...request, upstreamHeaders },
    { status, body: readErrorBody(response), retryAfter: headerOf(headers, 'retry-after'), rateLimit },
  );
}

/** Returns the members that null or an empty list was to clear, but that have a value in the response. Other differences are the service's business. */
const findUncleared = (sent: object = {}, received: unknown): string[] =>
  Object.entries(sent).flatMap(([name, value]) =>
    value !== undefined && isEmpty(value) && isRecord(received) && !isEmpty(received[name]) ? [name] : [],
  );

/** Returns the members that have another value in the response. Services may trim texts and write them in lower case. Objects are checked by the schema. */
const findUnapplied = (names: readonly string[], sent: object = {}, received: unknown): string[] =>
  names.filter((name) => {
    const [own, kept] = [sent, received].map((each) => (isRecord(each) ? each[name] : undefined));
    const isShown = own != null && kept !== undefined && !(kept instanceof Object);
    return isShown && own !== kept && normalized(own) !== normalized(kept);
  });

const normalized = (value: unknown): string => String(value).trim().toLowerCase();

const isEmpty = (value: unknown): boolean =>
  value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** `ETag` (RFC 9110, section 8.8.3) of at most 256 characters. Without bytes above ASCII, which `If-None-Match` could change. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,250}"$/;

/** Returns the `ETag` of a response; undefined if there is none, or it can't be sent back safely. */
function readETag(headers: Headers): string | undefined {
  const etag = headerOf(headers, 'etag') ?? '';
  return ETAG.test(etag) ? etag : undefined;
}

/** Maximum characters of `RateLimit-Policy` that are read. */
const MAX_POLICY_LENGTH = 512;

/** Matches the parameter `category` of a policy, but not inside a quoted string: `80;w=5;comment="token bucket";category="trigger"`. */
const CATEGORY = /^(?:"(?:[^"\\]|\\.)*"|[^"])*?;\s*category\s*=\s*("?)([\w .-]{1,64})\1\s*(?:[,;]|$)/i;

/** Matches the name of the first policy, as in newer drafts: `"default";q=100;w=10`. */
const POLICY_NAME = /^\s*"([\w .-]{1,64})"/;

/** Matches a count. In `RateLimit-Limit`, window descriptions may follow. */
const COUNT = /^\s*(\d{1,9})\s*(?:[,;]|$)/;

const SECONDS = /^\s*(\d{1,13}(?:\.\d{1,9})?)\s*(?:[,;]|$)/;

/** Maximum accepted time. Limits are per month at most. */
const MAX_RESET_SECONDS = 31 * 86_400;

/** Greater values are a time since 1970, not a duration. */
const EPOCH_SECONDS = 1e8;

/** Greater values are a time since 1970 in milliseconds, not seconds. */
const EPOCH_MILLISECONDS = 1e11;

/**
 * Reads `RateLimit-Limit`, `-Remaining`, `-Reset` and the category in `-Policy`, with or without `X-`. A 429 means that none remain, and its
 * `Retry-After` overrides the reset. Malformed and implausible values are ignored. Runs for every response, so it returns early without these headers.
 *
 * @returns undefined if the response doesn't say how many calls remain
 */
export function readRateLimit(status: number, headers: Headers, now?: number): RateLimitState | undefined {
  const remainingHeader = headerOf(headers, 'ratelimit-remaining') ?? headerOf(headers, 'x-ratelimit-remaining');
  if (remainingHeader === undefined && status !== 429) {
    return undefined;
  }
  const remaining = status === 429 ? 0 : parseCount(remainingHeader);
  const announced = parseCount(headerOf(headers, 'ratelimit-limit') ?? headerOf(headers, 'x-ratelimit-limit'));
  if (remaining === undefined || (announced === 0 && status !== 429)) {
    return undefined; // A limit of 0 can't be meant: this call was allowed.
  }
  const limit = announced !== undefined && announced < remaining ? undefined : announced; // A bucket can hold more than the limit, for bursts.
  const retryAfter = status === 429 ? parseRetryAfter(headerOf(headers, 'retry-after'), now) : undefined;
  const reset = headerOf(headers, 'ratelimit-reset') ?? headerOf(headers, 'x-ratelimit-reset');
  const policy = headerOf(headers, 'ratelimit-policy') ?? headerOf(headers, 'x-ratelimit-policy');
  return { limit, remaining, resetSeconds: retryAfter ?? parseReset(reset, now), category: readCategory(policy) };
}

/** Returns the category that a policy names first, or else the name of the first policy. */
function readCategory(header = ''): string | undefined {
  const policies = header.slice(0, MAX_POLICY_LENGTH);
  return CATEGORY.exec(policies)?.[2] ?? POLICY_NAME.exec(policies)?.[1];
}

function parseCount(header: string | undefined): number | undefined {
  const digits = header === undefined ? undefined : COUNT.exec(header)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns seconds from now. The header is a duration in seconds, or a time in seconds or milliseconds since 1970. */
function parseReset(header: string | undefined, now: number = Date.now()): number | undefined {
  const digits = header === undefined ? undefined : SECONDS.exec(header)?.[1];
  if (digits === undefined) {
    return undefined;
  }
  const value = Number(digits);
  const time = value > EPOCH_MILLISECONDS ? value / 1_000 : value;
  const seconds = Math.ceil(time > EPOCH_SECONDS ? time - now / 1_000 : time);
  return Math.abs(seconds) > MAX_RESET_SECONDS ? undefined : Math.max(0, seconds);
}
