import { VERSION } from '../../lib/version.ts';
import type { Settings } from '../../settings/settings.ts';
import type { DriftCheck } from '../contract/drift-check.ts';
import { errorFromFailure } from '../errors/error-from-failure.ts';
import { errorFromResponse } from '../errors/error-from-response.ts';
import { isUpstreamError } from '../errors/errors.ts';
import { endedEarly } from '../errors/failures.ts';
import { readRateLimit, type UpstreamRateLimit } from '../errors/rate-limit.ts';
import type { UpstreamRequest, WriteResult } from '../request.ts';
import { isTimeoutError } from '../resilience/abortable.ts';
import { BodyError, headerOf, planBody, readErrorBody, readSuccess } from './body.ts';
import { readETag } from './etag.ts';
import { type Progress, receive } from './receive.ts';
import type { Signal } from './signal.ts';
import type { SocketPool } from './socket-pool.ts';

/** Address of the service and the sockets to it. */
export interface ExchangeTarget {
  /** Scheme, host and port of the service. */
  origin: string;
  /** Sockets to the service, from `createDispatcher`. */
  dispatcher: SocketPool;
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
 */
export const createExchange =
  (
    { origin, dispatcher }: ExchangeTarget,
    { attemptTimeoutMs, maxUpstreamBodyBytes, maxUpstreamListItems }: ExchangeSettings,
    noteRateLimit: (credential: string, rateLimit: UpstreamRateLimit) => void,
    checkDrift?: DriftCheck,
  ): Exchange =>
  async (request, signal, traceHeaders) => {
    const { endpoint, authorization, call, known } = request;
    if (signal.aborted) {
      throw endedEarly(endpoint, { sent: false }, signal.reason);
    }
    const progress: Progress = { sent: false, status: undefined };
    try {
      const response = await receive(
        dispatcher,
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
      const { status, headers } = response;
      const rateLimit = readRateLimit(status, headers);
      if (rateLimit !== undefined) {
        noteRateLimit(authorization, rateLimit);
      }
      if (status <= 299) {
        const { sent, body } = readSuccess(response, call.expect, maxUpstreamListItems);
        checkDrift?.(endpoint, sent);
        const etag = endpoint.method === 'GET' ? readETag(headers) : undefined;
        const replayed = headerOf(headers, 'idempotency-replay') === 'true';
        return { status, body, replayed, rateLimit, ...(etag !== undefined && { etag }) };
      }
      if (status === 304 && known !== undefined) {
        return { status, body: known.body, replayed: false, rateLimit, etag: known.etag };
      }
      throw errorFromResponse(
        {
          endpoint,
          authorization,
          bodyFields: Object.keys(call.body ?? {}),
          idempotencyKey: call.idempotencyKey,
        },
        { status, body: readErrorBody(response), retryAfter: headerOf(headers, 'retry-after'), rateLimit },
      );
    } catch (failure) {
      if (isUpstreamError(failure)) {
        throw failure;
      }
      const isEndedEarly = signal.aborted || isTimeoutError(failure);
      if (isEndedEarly && !(failure instanceof BodyError)) {
        throw endedEarly(endpoint, progress, signal.aborted ? signal.reason : failure);
      }
      throw errorFromFailure(endpoint, failure, progress);
    }
  };

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
