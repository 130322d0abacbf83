// Defines the errors of upstream calls, with a table of the kinds of failures.

import { errorCodeOf } from '../lib/caught.ts';
import { isTimeoutError } from './signal.ts';

/**
 * Codes of failed upstream calls. They are stable: match them, not the messages.
 *
 * | code | when |
 * | --- | --- |
 * | BAD_USER_INPUT | the service rejected the input (400, 422), or an id was rejected before the call |
 * | UNAUTHENTICATED | no credential, or the service does not accept it (401) |
 * | FORBIDDEN | the service accepts the key, but not for this action (402, 403) |
 * | NOT_FOUND | 404 and 410 of the service itself on a write; a read returns null instead |
 * | CONFLICT | 409, and 422 if the message mentions the idempotency key |
 * | RATE_LIMITED | 429, or not called because the service reported an exhausted limit |
 * | UPSTREAM_ERROR | 500, 501, 505 and every other 4xx |
 * | UPSTREAM_UNAVAILABLE | 408, 425, 502, 503, 520 to 530, no connection, the connection broke, or the circuit breaker is open |
 * | UPSTREAM_TIMEOUT | 504, or no complete response within the deadline |
 * | UPSTREAM_BAD_RESPONSE | a response that violates the contract, or comes from something in front of the service |
 * | OVERLOADED | too many calls of this credential are already queued, or too much data is being received |
 * | BUDGET_EXCEEDED | the operation has used up its upstream calls |
 * | AUDIT_UNAVAILABLE | the write was not sent, because the audit log can't be written |
 * | CLIENT_CLOSED | the client has disconnected; appears only in logs and metrics |
 */
export type UpstreamErrorCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'RATE_LIMITED'
  | 'UPSTREAM_ERROR'
  | 'UPSTREAM_UNAVAILABLE'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_BAD_RESPONSE'
  | 'OVERLOADED'
  | 'BUDGET_EXCEEDED'
  | 'AUDIT_UNAVAILABLE'
  | 'CLIENT_CLOSED';

/** Outcome of a failed write. `NOT_APPLIED` is certain, so it is safe to send again; `UNKNOWN` may have been applied. */
export type WriteOutcome = 'NOT_APPLIED' | 'UNKNOWN';

export type ConflictReason = 'ALREADY_EXISTS' | 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_REUSED' | 'OTHER';

/**
 * Whether the gateway may retry the call: `always` if the service can't have applied it, `repeatable` if it may only be retried when
 * applying it twice is harmless, `never` if it would fail again or must not be retried.
 */
type RetryRule = 'always' | 'repeatable' | 'never';

export interface InputIssue {
  /** Name of the path parameter or body fields, outermost first; empty if the problem concerns the whole input. */
  path: string[];
  message: string;
}

export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template, without ids: `/v1/feeds/{feedId}`. */
  route: string;
}

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  readonly endpoint: Endpoint;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** Whether the caller can safely send the same request again, and it may succeed. @default false */
  readonly retryable: boolean;
  /** Time after which the caller can try again. */
  readonly retryAfterSeconds: number | undefined;
  /** Outcome of a write; undefined for reads, unless they follow one. @default 'NOT_APPLIED' */
  readonly outcome: WriteOutcome | undefined;
  /** The service's own id of the failure, to find it in its logs. */
  readonly errorId: string | undefined;
  /** Problems with the input. @default none */
  readonly issues: InputIssue[];
  /** Reason for a conflict. @default 'OTHER' */
  readonly conflict: ConflictReason;
  /** The service's rate limit, as reported with the response. */
  readonly rateLimit: UpstreamRateLimit | undefined;
  /** Whether the gateway may retry the call. @default 'never' */
  readonly retry: RetryRule;
  /** Whether the failure shows that the service is down, and doesn't concern only this call. @default false */
  readonly isOutage: boolean;
  /** Whether a proxy, a firewall or a router without this path answered for the service. @default false */
  readonly isForeign: boolean;
  /** Whether the service returned its stored failure of an earlier request with this idempotency key, as it would again. @default false */
  readonly isReplayed: boolean;
  /** Whether a request was sent. @default true */
  readonly sent: boolean;

  constructor(options: UpstreamErrorOptions) {
    super(options.message, { cause: options.cause });
    this.code = options.code;
    const { method, route } = options.endpoint; // Only these: the rules of an endpoint don't belong in responses and logs.
    this.endpoint = { method, route };
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.outcome = options.endpoint.method === 'GET' ? undefined : (options.outcome ?? 'NOT_APPLIED');
    this.errorId = options.errorId;
    this.issues = options.issues ?? [];
    this.conflict = options.conflict ?? 'OTHER';
    this.rateLimit = options.rateLimit;
    this.retry = options.retry ?? 'never';
    this.isOutage = options.isOutage ?? false;
    this.isForeign = options.isForeign ?? false;
    this.isReplayed = options.isReplayed ?? false;
    this.sent = options.sent ?? true;
  }
}

/**
 * Fields of an `UpstreamError`. Its `message` is for the caller, so it contains no host, address, id, key or text of a library; its `cause` is only for
 * the log.
 */
export type UpstreamErrorOptions = Pick<UpstreamError, 'code' | 'message' | 'endpoint'> &
  Partial<Omit<UpstreamError, 'name'>>;

export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError;

/** Returns what the log says about the cause of an error: its code, or else its message. */
export function describeCause(cause: unknown): string | undefined {
  if (cause instanceof Error) {
    return errorCodeOf(cause) ?? cause.message;
  }
  return typeof cause === 'string' ? cause : undefined;
}

// Failures that are known by more than a status. `transport/to-error.ts` has the others.

/** Added to the message of a failed write that may have been applied. */
export const OUTCOME_UNKNOWN = 'The change may have been applied. Check before sending it again.';

/** Adds that a write may have been applied to a message. */
export const addUnknownOutcome = (message: string): string => `${endSentence(message)} ${OUTCOME_UNKNOWN}`;

const endSentence = (message: string): string => message.replace(/[^.!?…]$/, '$&.');

/** Common part of all failures of a kind. If its outcome is unknown, a write's message says so, and a read can be sent again. */
type Rule = Omit<UpstreamErrorOptions, 'endpoint' | 'cause'>;

const RULES = {
  badResponse: {
    code: 'UPSTREAM_BAD_RESPONSE',
    message: 'The notification service sent an invalid response.',
    retryable: false,
    outcome: 'UNKNOWN',
  },
  /** The deadline passed before a request was sent. */
  notSentInTime: {
    code: 'UPSTREAM_TIMEOUT',
    message: 'The operation timed out before the notification service was called.',
    retryable: true,
    sent: false,
  },
  /** There is no complete response to a request that was sent. */
  timedOut: {
    code: 'UPSTREAM_TIMEOUT',
    message: 'The notification service did not respond in time.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
  },
  /** It is not retried, and doesn't count as a failure of the service. */
  clientClosed: { code: 'CLIENT_CLOSED', message: 'The client has disconnected.' },
  /** No connection, so nothing was applied. */
  notConnected: {
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service cannot be reached.',
    retryable: true,
    retry: 'always',
    isOutage: true,
  },
  /** 502, 503 and their like: the service is down, restarting or too slow. */
  unavailable: {
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service is unavailable.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
  },
  /** 425: the service is not ready, and says that it has not processed the request. */
  tooEarly: {
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service is unavailable.',
    retryable: true,
    retry: 'repeatable',
    isOutage: true,
  },
  brokenConnection: {
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The connection to the notification service broke before it responded.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
  },
  circuitOpen: {
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service was recently unavailable. Calls to it are paused.',
    retryable: true,
    sent: false,
  },
  throttled: {
    code: 'RATE_LIMITED',
    message: 'This API key has exceeded the rate limit of the notification service. Calls are paused until it resets.',
    retryable: true,
    sent: false,
  },
  queueFull: {
    code: 'OVERLOADED',
    message: 'Too many calls with this API key are waiting. Send fewer at once.',
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  },
  /** Too many bytes of responses are being received. */
  buffersFull: {
    code: 'OVERLOADED',
    message: 'The gateway is receiving too much data from the notification service.',
    retryAfterSeconds: 1,
    outcome: 'UNKNOWN',
  },
  auditUnavailable: {
    code: 'AUDIT_UNAVAILABLE',
    message: 'Changes are not possible at the moment, because the gateway cannot record them.',
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  },
  missingCredential: {
    code: 'UNAUTHENTICATED',
    message: 'Missing credential. Set the Authorization header to "ApiKey <your key>" or "Bearer <your token>".',
    sent: false,
  },
} as const satisfies Record<string, Rule>;

/** Returns the error for a failure of a kind, with what is known about this one. */
export function errorOf(
  kind: keyof typeof RULES,
  endpoint: Endpoint,
  facts: Partial<Omit<UpstreamErrorOptions, 'code' | 'endpoint'>> = {},
): UpstreamError {
  const rule: Rule = RULES[kind];
  const { message = rule.message } = facts;
  const isRead = endpoint.method === 'GET';
  const isUnknown = rule.outcome === 'UNKNOWN';
  return new UpstreamError({
    retryable: isRead && isUnknown,
    ...rule,
    ...facts,
    message: isUnknown && !isRead ? addUnknownOutcome(message) : message,
    endpoint,
  });
}

export const clientClosed = (
  endpoint: Endpoint,
  { sent, status, outcome }: Pick<UpstreamError, 'sent' | 'status' | 'outcome'>,
  cause: unknown,
): UpstreamError =>
  errorOf('clientClosed', endpoint, {
    status,
    retryable: endpoint.method === 'GET' || outcome === 'NOT_APPLIED',
    outcome,
    sent,
    cause,
  });

/**
 * Returns the error for a call that ended before its response.
 *
 * @param progress state of the request when the call ended, and whether that counts as an outage. By default, only a 504 does
 * @param reason `TimeoutError` for a deadline; anything else means that the client has disconnected
 */
export function endedEarly(
  endpoint: Endpoint,
  { sent, status, isOutage = status === 504 }: { sent: boolean; status?: number | undefined; isOutage?: boolean },
  reason: unknown,
): UpstreamError {
  if (!isTimeoutError(reason)) {
    return clientClosed(endpoint, { sent, status, outcome: sent ? 'UNKNOWN' : 'NOT_APPLIED' }, reason);
  }
  return sent
    ? errorOf('timedOut', endpoint, { status, isOutage, cause: reason })
    : errorOf('notSentInTime', endpoint, { cause: reason });
}

/** Returns the error for a call after an attempt or another write that may have been applied, even if this call was rejected or is a read. */
export const afterUnknownOutcome = (error: UpstreamError): UpstreamError =>
  error.outcome === 'UNKNOWN'
    ? error
    : Object.assign(
        new UpstreamError({
          ...error,
          message: addUnknownOutcome(error.message),
          retryable: false,
          cause: error.cause,
        }),
        { outcome: 'UNKNOWN' as const },
      );

/** Added to the message of a failure that the service has stored. */
export const STORED_FAILURE = 'The service stored this failure under the idempotency key, so use a new key.';

/** Returns the error for a failure that the service stored under the idempotency key. It says nothing about the service's current state. */
export const storedFailure = (error: UpstreamError): UpstreamError =>
  new UpstreamError({
    ...error,
    message: `${endSentence(error.message)} ${STORED_FAILURE}`,
    retryable: false,
    retryAfterSeconds: undefined,
    retry: 'never',
    isOutage: false,
    isReplayed: true,
    cause: error.cause,
  });

/** Returns the error for input that the gateway itself rejects. */
export const invalidInput = (endpoint: Endpoint, issues: InputIssue[]): UpstreamError => {
  const message = issues.map((issue) => issue.message).join(' ');
  return new UpstreamError({ code: 'BAD_USER_INPUT', message, endpoint, issues, sent: false });
};

/** The service's own rate limit for a credential. */
export interface UpstreamRateLimit {
  /** Calls allowed per window. */
  limit?: number | undefined;
  /** Calls left in the current window. */
  remaining: number;
  /** Whole seconds until the window resets. */
  resetSeconds?: number | undefined;
  /** Category of endpoints that it applies to. @default all */
  category?: string | undefined;
}
