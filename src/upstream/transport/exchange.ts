import { VERSION } from '../../lib/version.ts';
import type { Settings } from '../../settings/settings.ts';
import type { DriftCheck } from '../contract/drift.ts';
import type { UpstreamRateLimit } from '../errors.ts';
import { type Endpoint, endedEarly, isUpstreamError, type UpstreamError } from '../errors.ts';
import type { UpstreamRequest, WriteResult } from '../request.ts';
import { isTimeoutError, type Signal } from '../signal.ts';
import { BodyError, headerOf, planBody, readErrorBody, readSuccess } from './body.ts';
import { resultOf, type UpstreamObserver } from './observer.ts';
import { readRateLimit } from './rate-limit-headers.ts';
import { type Headers, type Progress, receive, type UpstreamResponse } from './receive.ts';
import type { SocketPool } from './socket-pool.ts';
import { errorFromFailure, errorFromResponse } from './to-error.ts';

/** Address of the service and the sockets to it. */
export interface ExchangeTarget {
  /** Scheme, host and port of the service. */
  origin: string;
  /** Sockets to the service, from `createSocketPool`. */
  pool: SocketPool;
}

/** Settings of one request. */
export type ExchangeSettings = Pick<Settings, 'attemptTimeoutMs' | 'maxUpstreamBodyBytes' | 'maxUpstreamListItems'>;

/** Sent as `User-Agent`. */
const USER_AGENT = `notigraph/${VERSION}`;

/** Headers that propagate the trace context upstream. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

/** Decoded response. */
export interface UpstreamResult extends WriteResult<unknown> {
  status: number;
  rateLimit: UpstreamRateLimit | undefined;
  /** `ETag` of a read. Absent if there is none, or it is invalid. */
  etag?: string;
}

/** Sends one request once and decodes its response. Fails only with `UpstreamError`. */
export type Exchange = (
  request: UpstreamRequest,
  signal: Signal,
  traceHeaders?: TraceHeaders,
) => Promise<UpstreamResult>;

/**
 * Creates the function that sends requests.
 *
 * @param noteRateLimit called for every response that reports the service's rate limit
 * @param checkDrift called with the body of every successful response
 * @param observer called when a request ends
 */
export const createExchange = (
  { origin, pool }: ExchangeTarget,
  { attemptTimeoutMs, maxUpstreamBodyBytes, maxUpstreamListItems }: ExchangeSettings,
  noteRateLimit: (credential: string, rateLimit: UpstreamRateLimit) => void,
  checkDrift?: DriftCheck,
  observer?: Pick<UpstreamObserver, 'ended'>,
): Exchange => {
  function readResult(
    { endpoint, authorization, path, call, known }: UpstreamRequest,
    response: UpstreamResponse,
    rateLimit: UpstreamRateLimit | undefined,
  ): UpstreamResult {
    const { status, headers } = response;
    if (status <= 299) {
      const { sent, body } = readSuccess(response, call.expect, maxUpstreamListItems);
      checkDrift?.(endpoint, sent, authorization);
      const result: UpstreamResult = {
        status,
        body,
        replayed: headerOf(headers, 'idempotency-replay') === 'true',
        rateLimit,
      };
      const etag = endpoint.method === 'GET' ? readETag(headers) : undefined;
      if (etag !== undefined) {
        result.etag = etag;
      }
      return result;
    }
    if (status === 304 && known !== undefined) {
      return { status, body: known.body, replayed: false, rateLimit, etag: known.etag };
    }
    throw errorFromResponse(
      { endpoint, authorization, path, body: call.body, idempotencyKey: call.idempotencyKey },
      { status, body: readErrorBody(response), retryAfter: headerOf(headers, 'retry-after'), rateLimit },
    );
  }

  return async (request, signal, traceHeaders) => {
    const { endpoint, authorization, call } = request;
    const startedAt = performance.now();
    const progress: Progress = { sent: false, status: undefined };
    try {
      if (signal.aborted) {
        throw endedEarly(endpoint, progress, signal.reason);
      }
      const response = await receive(
        pool,
        {
          origin,
          path: request.path,
          method: endpoint.method,
          headers: buildHeaders(request, traceHeaders),
          body: call.body === undefined ? null : JSON.stringify(call.body),
        },
        (status, headers) => planBody(status, headers, call.expect, maxUpstreamBodyBytes),
        { credential: authorization, progress, signal, timeoutMs: attemptTimeoutMs },
      );
      const rateLimit = readRateLimit(response.status, response.headers);
      if (rateLimit !== undefined) {
        noteRateLimit(authorization, rateLimit);
      }
      const result = readResult(request, response, rateLimit);
      observer?.ended(endpoint, '2xx', performance.now() - startedAt);
      return result;
    } catch (failure) {
      const error = toUpstreamError(endpoint, failure, progress, signal, attemptTimeoutMs);
      observer?.ended(endpoint, resultOf(error), performance.now() - startedAt);
      throw error;
    }
  };
};

/** Returns the error for a request that failed in any way. */
function toUpstreamError(
  endpoint: Endpoint,
  failure: unknown,
  progress: Progress,
  signal: Signal,
  attemptTimeoutMs: number,
): UpstreamError {
  if (isUpstreamError(failure)) {
    return failure;
  }
  if (failure instanceof BodyError) {
    return errorFromFailure(endpoint, failure, progress);
  }
  if (signal.aborted) {
    return endedEarly(endpoint, progress, signal.reason); // By the operation or its client, which says nothing about the service.
  }
  return isTimeoutError(failure)
    ? endedEarly(endpoint, { ...progress, isOutage: isUnanswered(progress, attemptTimeoutMs) }, failure)
    : errorFromFailure(endpoint, failure, progress);
}

/** Whether the service sent no headers although it had most of the attempt. The request may have waited for a socket before. */
const isUnanswered = ({ sentAt, status }: Progress, attemptTimeoutMs: number): boolean =>
  sentAt !== undefined && status === undefined && performance.now() - sentAt >= attemptTimeoutMs / 2;

/** Returns the headers of a request. Headers of the client's request are not forwarded. */
function buildHeaders(
  { authorization, requestId, call, known }: UpstreamRequest,
  traceHeaders: TraceHeaders | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {
    authorization,
    accept: 'application/json',
    'user-agent': USER_AGENT,
    'x-request-id': requestId,
  };
  if (call.body !== undefined) {
    headers['content-type'] = 'application/json';
  }
  if (call.idempotencyKey !== undefined) {
    headers['idempotency-key'] = call.idempotencyKey;
  }
  if (known !== undefined) {
    headers['if-none-match'] = known.etag;
  }
  return traceHeaders === undefined ? headers : Object.assign(headers, traceHeaders);
}

/** `ETag` (RFC 9110, section 8.8.3) of at most 256 characters. Without bytes above ASCII, which `If-None-Match` could change. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,250}"$/;

/** Returns the `ETag` of a response; undefined if there is none, or it can't be sent back safely. */
export function readETag(headers: Headers): string | undefined {
  const etag = headers.etag === undefined ? undefined : headerOf(headers, 'etag');
  return etag !== undefined && ETAG.test(etag) ? etag : undefined;
}
