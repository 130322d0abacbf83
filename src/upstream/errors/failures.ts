import { isTimeoutError } from '../resilience/abortable.ts';
import { type Endpoint, type InputIssue, UpstreamError } from './errors.ts';
import type { UpstreamRateLimit } from './rate-limit.ts';

// Failures that are known by more than a status. `error-from-response.ts` has the others.

/** Added to the message of a failed write that may have been applied. */
export const OUTCOME_UNKNOWN = 'The change may have been applied. Check before sending it again.';

const withUnknownOutcome = (endpoint: Endpoint, message: string): string =>
  endpoint.method === 'GET' ? message : `${message} ${OUTCOME_UNKNOWN}`;

/** Returns the error for a response that violates the service's contract. */
export const badResponse = (endpoint: Endpoint, status: number | undefined, cause: string | Error): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_BAD_RESPONSE',
    message: withUnknownOutcome(endpoint, 'The notification service sent an invalid response.'),
    endpoint,
    status,
    outcome: 'UNKNOWN',
    cause,
  });

/**
 * Returns the error for a missing or incomplete response to a request that was sent. A 504 counts as an outage.
 *
 * @param isOutage whether it counts as one without a status too. @default false
 */
export const timedOut = (
  endpoint: Endpoint,
  status: number | undefined,
  cause?: unknown,
  isOutage = status === 504,
): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: withUnknownOutcome(endpoint, 'The notification service did not respond in time.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage,
    cause,
  });

/** Returns the error for a deadline that passed before a request was sent. */
const notSentInTime = (endpoint: Endpoint, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: 'The operation timed out before the notification service was called.',
    endpoint,
    retryable: true,
    sent: false,
    cause,
  });

/** Returns the error for a client that has disconnected. It is not retried and doesn't count as a failure of the service. */
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
 * Returns the error for a call that ended before its response.
 *
 * @param progress state of the request when the call ended, and whether that counts as an outage. By default, it doesn't
 * @param reason `TimeoutError` for a deadline; anything else means that the client has disconnected
 */
export function endedEarly(
  endpoint: Endpoint,
  { sent, status, isOutage }: { sent: boolean; status?: number | undefined; isOutage?: boolean },
  reason: unknown,
): UpstreamError {
  if (!isTimeoutError(reason)) {
    return clientClosed(endpoint, { sent, status, outcome: sent ? 'UNKNOWN' : 'NOT_APPLIED' }, reason);
  }
  return sent ? timedOut(endpoint, status, reason, isOutage) : notSentInTime(endpoint, reason);
}

/** Returns the error for a failed connection: nothing was applied. Failures of TLS, and refusals of a proxy, are not retried. */
export const notConnected = (endpoint: Endpoint, cause: unknown, isPermanent: boolean): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service cannot be reached.',
    endpoint,
    retryable: true,
    retry: isPermanent ? 'never' : 'always',
    isOutage: true,
    cause,
  });

/** Returns the error for 502 and 503: the service is down or restarting. */
export const serviceUnavailable = (
  endpoint: Endpoint,
  status: number,
  retryAfterSeconds: number | undefined,
): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: withUnknownOutcome(endpoint, 'The notification service is unavailable.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    retryAfterSeconds,
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
  });

/** Returns the error for a connection that broke after the request was sent. */
export const brokenConnection = (endpoint: Endpoint, status: number | undefined, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: withUnknownOutcome(endpoint, 'The connection to the notification service broke before it responded.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    cause,
  });

/** Returns the error for a retried write whose first attempt may have been applied, even if a later attempt was rejected. */
export const afterUnknownOutcome = (error: UpstreamError): UpstreamError =>
  error.outcome === 'NOT_APPLIED'
    ? new UpstreamError({
        ...error,
        message: withUnknownOutcome(error.endpoint, error.message),
        retryable: false,
        outcome: 'UNKNOWN',
        cause: error.cause,
      })
    : error;

/** Returns the error for a call that was not sent because the circuit breaker is open. */
export const circuitOpen = (endpoint: Endpoint, retryAfterSeconds: number): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service was recently unavailable. Calls to it are paused.',
    endpoint,
    retryable: true,
    retryAfterSeconds,
    sent: false,
  });

/** Returns the error for a call that was not sent because the service reported an exhausted rate limit. */
export const throttled = (endpoint: Endpoint, rateLimit: UpstreamRateLimit): UpstreamError =>
  new UpstreamError({
    code: 'RATE_LIMITED',
    message: 'This API key has exceeded the rate limit of the notification service. Calls are paused until it resets.',
    endpoint,
    retryable: true,
    retryAfterSeconds: rateLimit.resetSeconds,
    rateLimit,
    sent: false,
  });

/** Returns the error for a call that was not sent because too many calls of its credential are already queued. */
export const overloaded = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'OVERLOADED',
    message: 'Too many calls with this API key are waiting. Send fewer at once.',
    endpoint,
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  });

/** Returns the error for exceeding the limit on bytes of responses being received. */
export const bufferLimitExceeded = (endpoint: Endpoint, status: number | undefined): UpstreamError =>
  new UpstreamError({
    code: 'OVERLOADED',
    message: withUnknownOutcome(endpoint, 'The gateway is receiving too much data from the notification service.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    retryAfterSeconds: 1,
    outcome: 'UNKNOWN',
  });

/** Returns the error for an operation that exceeds its limit of upstream calls. */
export const callBudgetExceeded = (endpoint: Endpoint, limit: number): UpstreamError =>
  new UpstreamError({
    code: 'BUDGET_EXCEEDED',
    message: `An operation can make at most ${limit} calls to the notification service. Request less, or use several operations.`,
    endpoint,
    sent: false,
  });

/** Returns the error for a write that was not sent because it can't be recorded. */
export const auditUnavailable = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'AUDIT_UNAVAILABLE',
    message: 'Changes are not possible at the moment, because the gateway cannot record them.',
    endpoint,
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  });

/** Returns the error for a call without a credential. */
export const missingCredential = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'UNAUTHENTICATED',
    message: 'Missing credential. Set the Authorization header to "ApiKey <your key>" or "Bearer <your token>".',
    endpoint,
    sent: false,
  });

/** Returns the error for input that the gateway itself rejects. */
export const invalidInput = (endpoint: Endpoint, issues: InputIssue[]): UpstreamError => {
  const message = issues.map((issue) => issue.message).join(' ');
  return new UpstreamError({ code: 'BAD_USER_INPUT', message, endpoint, issues, sent: false });
};
