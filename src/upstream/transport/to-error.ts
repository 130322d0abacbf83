// Tells of which kind a failed response is, or an attempt without one, and creates its error. `failures.ts` says what each kind means.

import { errorCodeOf } from '../../lib/caught.ts';
import { createCredentialFilter, type Secrets } from '../../lib/credential-filter.ts';
import { arrayOf, isRecord, recordOf } from '../../lib/is-record.ts';
import { isTimeoutError } from '../../lib/signal.ts';
import { ProxyError } from '../../network/connector.ts';
import type { UpstreamRequest } from '../calls.ts';
import type { CallArgs, DeclaredEndpoint } from '../endpoint.ts';
import {
  afterUnknownOutcome,
  type Endpoint,
  endedEarly,
  errorOf,
  isUpstreamError,
  type RateLimitState,
  type UpstreamError,
} from '../errors.ts';
import { FAILURES, kindOfStatus, meaningOf } from '../failures.ts';
import { isRecordId } from '../input-rules.ts';
import { BufferLimitError, type Progress } from './attempt.ts';
import { BodyError, BodySizeError, type ErrorBody } from './body.ts';
import { readReasons } from './reasons.ts';

/** Response with a status other than 2xx. */
interface FailedResponse {
  status: number;
  body: ErrorBody;
  /** `Retry-After` header. */
  retryAfter: string | undefined;
  rateLimit?: RateLimitState | undefined;
}

/** Parts of the request that are needed to interpret its response. Messages that quote a part of a secret are dropped. */
interface FailedRequest extends Secrets, Pick<UpstreamRequest, 'path' | 'args'> {
  endpoint: CalledEndpoint;
}

type CalledEndpoint = Endpoint & Partial<Pick<DeclaredEndpoint, 'isShipped' | 'recordIds' | 'selectedBy' | 'upsert'>>;

/** Redirects to another address, before the request was processed. After 303, it was. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** Converts a response other than 2xx to an `UpstreamError`. Passes on the service's own message if the caller can act on it. */
export function errorFromResponse(request: FailedRequest, response: FailedResponse): UpstreamError {
  const { endpoint, args } = request;
  const { status, rateLimit } = response;
  const { idempotencyKey } = args;
  if (isForeign(endpoint, response, args.query)) {
    if (status === 401 || status === 403) {
      return errorOf('blocked', endpoint, { status });
    }
    const problem = status < 400 ? 'redirects to another address' : 'has no such endpoint';
    const message = `The notification service ${problem} (status ${status}). Check its base address, and what is in front of it.`;
    return errorOf('foreign', endpoint, { status, message });
  }
  const kind = kindOfStatus(status);
  if (kind === 'badResponse') {
    return errorOf(kind, endpoint, { status, cause: `status ${status} is neither success nor failure` });
  }
  const { code, quotes = false, passesRetryAfter = false } = meaningOf(kind);
  const retryAfterSeconds = parseRetryAfter(response.retryAfter);
  if (status === 409 && idempotencyKey !== undefined && retryAfterSeconds !== undefined) {
    return errorOf('inProgress', endpoint, { status, rateLimit, retryAfterSeconds });
  }
  const createFilter = () => createCredentialFilter(request, () => request.path + JSON.stringify(args.body));
  const reasons = quotes ? readReasons(response.body.json, endpoint, args.body, createFilter()) : undefined; // Reading them takes time.
  const usual = kind === 'failed' ? FAILURES.failed.message + describeOddId(request) : undefined;
  const message = reasons?.message || usual;
  if (status === 422 && idempotencyKey !== undefined && mentionsIdempotency(message ?? '', idempotencyKey)) {
    return errorOf('conflict', endpoint, { status, rateLimit, message, conflict: 'IDEMPOTENCY_KEY_REUSED' });
  }
  const error = errorOf(kind, endpoint, {
    status,
    rateLimit,
    message,
    issues: (code === 'BAD_USER_INPUT' && reasons?.issues) || [],
    conflict: code === 'CONFLICT' && endpoint.method === 'POST' ? 'ALREADY_EXISTS' : 'OTHER',
    retryAfterSeconds: passesRetryAfter ? retryAfterSeconds : undefined,
    errorId: code === 'UPSTREAM_ERROR' ? readErrorId(response.body.json, createFilter) : undefined,
  });
  return isStoredInPart(request, error) ? afterUnknownOutcome(error) : error;
}

/** Whether the service may have stored a part of an upsert before it rejected the rest. If it names a member, it has only validated the body. */
const isStoredInPart = ({ endpoint: { upsert }, args }: FailedRequest, { status, issues }: UpstreamError): boolean =>
  status === 400 &&
  issues.every(({ path }) => path.length === 0) &&
  arrayOf(recordOf(args.body)[upsert?.storedLast ?? '']).length > 0;

/** Returns a sentence about an id that can't be one of the service's records, on which some services fail; empty if there is none. */
function describeOddId({ endpoint: { recordIds = [] }, args }: FailedRequest): string {
  const ids: CallArgs = { ...args.body, ...args };
  const odd = recordIds.find((name) => [ids[name] ?? []].flat().some((id) => !isRecordId(String(id))));
  const advice = odd === 'workflowId' ? " Use the workflow's id, not its identifier." : '';
  return odd === undefined
    ? ''
    : ` An id does not have the form of the service's ids (24 hexadecimal digits).${advice}`;
}

/**
 * Whether something else answers for the service: a firewall with a page, a redirect, an ingress without a backend, or a router that doesn't know the
 * path, because the base address is wrong. Then a 404 says nothing about a record. The service sends its status in the body too, unlike gateways and
 * frameworks. What the services of other modules send is unknown, so there any JSON and an empty body count. Lists always exist, but the service can miss
 * the record whose id selects their items.
 */
export function isForeign(
  { route, isShipped = false, selectedBy = [] }: CalledEndpoint,
  { status, body: { form, json } }: Pick<FailedResponse, 'status' | 'body'>,
  query: CallArgs['query'] = {},
): boolean {
  switch (status) {
    case 401:
    case 403:
      return form === 'html';
    case 404:
    case 410: {
      const { statusCode } = isRecord(json) ? json : {};
      const isOwn = isShipped ? statusCode === 404 || statusCode === 410 : form === 'json' || form === 'none';
      const isSelected = selectedBy.some((name) => query[name] != null);
      return !isOwn || !(route.includes('{') || isSelected) || saysNoRoute(json);
    }
    default:
      return REDIRECTS.has(status);
  }
}

/** Sentences of routers about paths: those of Express and Nest, Fastify, Kong, APISIX, and Spring. */
const NO_ROUTE =
  /^(?:Cannot (?:GET|POST|PUT|PATCH|DELETE) \/|Route (?:GET|POST|PUT|PATCH|DELETE):|no Route matched|404 Route Not Found|No (?:static resource|endpoint|handler found))/i;

function saysNoRoute(body: unknown): boolean {
  const { message, error_msg: sent = isRecord(message) ? message.message : message } = isRecord(body) ? body : {};
  return [sent].flat().some((text) => typeof text === 'string' && NO_ROUTE.test(text));
}

const mentionsIdempotency = (message: string, key: string): boolean =>
  /idempoten/i.test(message) || message.includes(key);

function readErrorId(body: unknown, createFilter: () => (text: string) => boolean): string | undefined {
  const id = isRecord(body) ? body.errorId : undefined;
  return typeof id === 'string' && /^[\w.:-]{1,100}$/.test(id) && createFilter()(id) ? id : undefined;
}

/**
 * Returns the error for an attempt that failed in any way.
 *
 * @param abortReason reason for which the call was aborted; undefined if it wasn't
 */
export function errorFromAttempt(
  endpoint: Endpoint,
  failure: unknown,
  progress: Progress,
  abortReason: unknown,
  attemptTimeoutMs: number,
): UpstreamError {
  if (isUpstreamError(failure)) {
    return failure;
  }
  if (abortReason !== undefined && !(failure instanceof BodyError)) {
    return endedEarly(endpoint, progress, abortReason); // By the operation or its client, which says nothing about the service.
  }
  const { sent, status } = progress;
  return isTimeoutError(failure)
    ? endedEarly(endpoint, { sent, status, isOutage: isUnanswered(progress, attemptTimeoutMs) }, failure)
    : errorFromFailure(endpoint, failure, progress);
}

/** Whether the service sent no headers although it had most of the attempt. The request may have waited for its connection before. */
const isUnanswered = ({ sentAt, status }: Progress, attemptTimeoutMs: number): boolean =>
  sentAt !== undefined && status === undefined && performance.now() - sentAt >= attemptTimeoutMs / 2;

/** Converts a failure of undici or of reading the body to an `UpstreamError`. */
export function errorFromFailure(endpoint: Endpoint, failure: unknown, { sent, status }: Progress): UpstreamError {
  if (failure instanceof BodyError) {
    const facts = { status, cause: failure };
    const message = `The notification service sent a response that can't be used: ${failure.message}.`;
    return errorOf('badResponse', endpoint, failure instanceof BodySizeError ? { ...facts, message } : facts);
  }
  if (failure instanceof BufferLimitError) {
    return errorOf('buffersFull', endpoint, { status });
  }
  const code = errorCodeOf(failure) ?? '';
  const { name, message } = failure instanceof Error ? failure : { name: '', message: '' };
  if (!sent) {
    // It would fail again.
    const isPermanent = isTlsFailure(code) || (failure instanceof ProxyError && failure.isPermanent);
    return errorOf('notConnected', endpoint, { retry: isPermanent ? 'never' : 'always', cause: failure });
  }
  if (name === 'TimeoutError') {
    return errorOf('timedOut', endpoint, { status, cause: failure });
  }
  if (isProtocolError(code, name, message, status)) {
    return errorOf('badResponse', endpoint, { status, cause: failure instanceof Error ? failure : code });
  }
  return errorOf('brokenConnection', endpoint, { status, cause: failure });
}

/** Matches certificate and handshake errors of node:tls (`X509` verify codes, OpenSSL and Node's own). */
const isTlsFailure = (code: string): boolean =>
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO$)/.test(code);

/** Matches malformed HTTP, but not truncated responses. Checks messages too, because undici has one code for several kinds of failures. */
const isProtocolError = (code: string, name: string, message: string, status: number | undefined): boolean =>
  (name === 'HTTPParserError' && !message.includes('Invalid EOF state')) ||
  code === 'UND_ERR_HEADERS_OVERFLOW' ||
  code === 'ERR_ASSERTION' || // A status below 100, which undici doesn't expect.
  (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && status === undefined) || // Contradictory headers; with a status, a truncated body.
  (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(message));

/** Bounds in seconds. Services round down to 0, which would make callers repeat without a pause. The upper one fits the schema's Int. */
const [MIN_RETRY_AFTER, MAX_RETRY_AFTER] = [1, 999_999_999];

/** Matches HTTP dates. `Date.parse` accepts nearly any text with a number in it, such as -1 or 1.5. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/;

/** Parses `Retry-After` (RFC 9110, 10.2.3), a date or seconds, into whole seconds, at least one. Returns undefined if it is malformed. */
export function parseRetryAfter(header: string | undefined, now: number = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) {
    return Math.max(MIN_RETRY_AFTER, Number(text));
  }
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date)
    ? undefined
    : Math.min(MAX_RETRY_AFTER, Math.max(MIN_RETRY_AFTER, Math.ceil((date - now) / 1000)));
}
