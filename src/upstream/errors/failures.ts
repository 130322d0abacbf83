import { isTimeoutError } from '../resilience/abortable.ts';
import { type Endpoint, type InputIssue, UpstreamError } from './errors.ts';
import type { UpstreamRateLimit } from './rate-limit.ts';

/** The failures that are known by more than a status, one function each; `error-from-response.ts` has the others. */

/** Added to the sentence of a failed write that may have been carried out. */
const FATE_UNKNOWN = 'The change may have been carried out: check before sending it again.';

const ofUnknownFate = (endpoint: Endpoint, sentence: string): string =>
  endpoint.method === 'GET' ? sentence : `${sentence} ${FATE_UNKNOWN}`;

/** The service answered, but not what its contract says. */
export const badResponse = (endpoint: Endpoint, status: number | undefined, cause: string | Error): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_BAD_RESPONSE',
    message: ofUnknownFate(endpoint, 'The notification service sent an answer that breaks its contract.'),
    endpoint,
    status,
    outcome: 'UNKNOWN',
    cause,
  });

/** No complete answer in time, after the request may have arrived. A 504 also speaks of the service's health. */
export const timedOut = (endpoint: Endpoint, status: number | undefined, cause?: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: ofUnknownFate(endpoint, 'The notification service did not answer in time.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: status === 504,
    cause,
  });

/** The deadline had passed before anything was sent. */
const notSentInTime = (endpoint: Endpoint, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: 'The time for this operation was over before the notification service was asked.',
    endpoint,
    retryable: true,
    sent: false,
    cause,
  });

/** The client has disconnected. Not the service's fault: it is neither repeated nor counted against it. */
export const clientClosed = (
  endpoint: Endpoint,
  { sent, status, outcome }: Pick<UpstreamError, 'sent' | 'status' | 'outcome'>,
  cause: unknown,
): UpstreamError =>
  new UpstreamError({
    code: 'CLIENT_CLOSED',
    message: 'The client has disconnected.',
    endpoint,
    status,
    retryable: endpoint.method === 'GET' || outcome === 'NOT_APPLIED',
    outcome,
    sent,
    cause,
  });

/**
 * Returns the error of a call that ended before its answer.
 *
 * @param progress how far the call had come
 * @param reason why it ended: a `TimeoutError` means a deadline, anything else that the client has disconnected
 */
export function endedEarly(
  endpoint: Endpoint,
  { sent, status }: { sent: boolean; status?: number | undefined },
  reason: unknown,
): UpstreamError {
  if (!isTimeoutError(reason)) {
    return clientClosed(endpoint, { sent, status, outcome: sent ? 'UNKNOWN' : 'NOT_APPLIED' }, reason);
  }
  return sent ? timedOut(endpoint, status, reason) : notSentInTime(endpoint, reason);
}

/** No connection could be made, so nothing was carried out. A TLS failure does not pass by itself. */
export const notConnected = (endpoint: Endpoint, cause: unknown, isTlsFailure: boolean): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service cannot be reached.',
    endpoint,
    retryable: true,
    retry: isTlsFailure ? 'never' : 'always',
    isOutage: true,
    cause,
  });

/** 502 and 503: the service is down or restarting. */
export const down = (endpoint: Endpoint, status: number, retryAfterSeconds: number | undefined): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: ofUnknownFate(endpoint, 'The notification service is not available at the moment.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    retryAfterSeconds,
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
  });

/** The connection broke after the request was sent. */
export const brokenConnection = (endpoint: Endpoint, status: number | undefined, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: ofUnknownFate(endpoint, 'The connection to the notification service broke before it had answered.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    cause,
  });

/** The failure of a repeated write whose first attempt may have been carried out: being refused later proves nothing about that one. */
export const afterUnknownFate = (error: UpstreamError): UpstreamError =>
  error.outcome === 'NOT_APPLIED'
    ? new UpstreamError({
        ...error,
        message: ofUnknownFate(error.endpoint, error.message),
        retryable: false,
        outcome: 'UNKNOWN',
        cause: error.cause,
      })
    : error;

/** The circuit breaker is open: the service was down a moment ago and is given time. */
export const circuitOpen = (endpoint: Endpoint, retryAfterSeconds: number): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service was not available a moment ago; it is not called again yet.',
    endpoint,
    retryable: true,
    retryAfterSeconds,
    sent: false,
  });

/** The service has said that it would refuse calls of this credential; nothing was sent. */
export const heldBack = (endpoint: Endpoint, rateLimit: UpstreamRateLimit): UpstreamError =>
  new UpstreamError({
    code: 'RATE_LIMITED',
    message: 'The notification service limits how often this API key may call it; it is not called again yet.',
    endpoint,
    retryable: true,
    retryAfterSeconds: rateLimit.resetSeconds,
    rateLimit,
    sent: false,
  });

/** Too many calls of this credential wait already. */
export const overloaded = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'OVERLOADED',
    message: 'Too many calls with this API key are waiting; send fewer at once.',
    endpoint,
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  });

/** The gateway is receiving as much from the service as it has memory for. */
export const tooMuchAtOnce = (endpoint: Endpoint, status: number | undefined): UpstreamError =>
  new UpstreamError({
    code: 'OVERLOADED',
    message: ofUnknownFate(endpoint, 'The gateway receives too much data from the notification service at once.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    retryAfterSeconds: 1,
    outcome: 'UNKNOWN',
  });

/** The operation has used up the upstream calls that one operation may make. */
export const callBudgetExceeded = (endpoint: Endpoint, limit: number): UpstreamError =>
  new UpstreamError({
    code: 'BUDGET_EXCEEDED',
    message: `One operation may call the notification service ${limit} times; ask for less, or in several operations.`,
    endpoint,
    sent: false,
  });

/** The caller gave no credential; nothing was sent. */
export const noCredential = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'UNAUTHENTICATED',
    message: 'This needs a credential in the header Authorization: "ApiKey <your key>" or "Bearer <your token>".',
    endpoint,
    sent: false,
  });

/** The input was refused here; nothing was sent. */
export const refusedInput = (endpoint: Endpoint, issue: InputIssue): UpstreamError =>
  new UpstreamError({ code: 'BAD_USER_INPUT', message: issue.message, endpoint, issues: [issue], sent: false });
