// Defines what each kind of failed call means: its code and message, whether it is repeated, what is known about a write, and whether it is an outage.

/** Outcome of a failed write. `NOT_APPLIED` is certain, so it is safe to send again; `UNKNOWN` may have been applied. */
export type WriteOutcome = 'NOT_APPLIED' | 'UNKNOWN';

/**
 * Whether the gateway may retry the call: `always` if the service can't have applied it, `repeatable` if it may only be retried when
 * applying it twice is harmless, `never` if it would fail again or must not be retried.
 */
export type RetryRule = 'always' | 'repeatable' | 'never';

/** Meaning of one kind of failure. What is known about a single call can replace it. */
export interface FailureMeaning {
  /** When it happens, as the table in docs/reliability.md says it. */
  readonly when: string;
  /** Statuses of its responses: the first and the last of each range. A status belongs to the first kind that has it. @default none */
  readonly statuses?: readonly (readonly [first: number, last: number])[];
  /** Code that clients see. */
  readonly code: string;
  /**
   * Message for the caller, in which `{status}` stands for that of the response. If the outcome of a write is unknown, a sentence about that is added.
   *
   * @default given with each failure
   */
  readonly message?: string;
  /** Whether the service's own message is shown instead, because the caller can act on it. @default false */
  readonly quotes?: boolean;
  /** Whether the `Retry-After` of the response is meant for the caller. @default false */
  readonly passesRetryAfter?: boolean;
  /** Time after which the caller can try again. @default unknown */
  readonly retryAfterSeconds?: number;
  /** Whether the caller can send the request again. @default for reads, if the outcome of a write would be unknown */
  readonly retryable?: boolean;
  /** @default 'never' */
  readonly retry?: RetryRule;
  /** @default 'NOT_APPLIED' */
  readonly outcome?: WriteOutcome;
  /** Whether it shows that the service is down, and doesn't concern only this call. @default false */
  readonly isOutage?: boolean;
  /** Whether something else answered for the service. @default false */
  readonly isForeign?: boolean;
  /** Whether the same request may succeed later: an import repeats it, and unless it is the rate limit, a stored response may serve. @default false */
  readonly isTemporary?: boolean;
  /** Whether a request was sent. @default true */
  readonly sent?: boolean;
}

/** Range that contains one status. */
const only = (status: number): readonly [number, number] => [status, status];

/** All kinds of failures of a call. Codes are stable: match them, not the messages. */
export const FAILURES = {
  rejectedInput: {
    when: 'the service refuses the input',
    statuses: [only(400), only(422)],
    code: 'BAD_USER_INPUT',
    message: 'The notification service rejected the input.',
    quotes: true,
  },
  keyRefused: {
    when: 'the service does not accept the API key',
    statuses: [only(401)],
    code: 'UNAUTHENTICATED',
    message: 'The notification service does not accept this API key.',
    quotes: true,
  },
  planLacksAction: {
    when: "the plan of the key's organization lacks the action",
    statuses: [only(402)],
    code: 'FORBIDDEN',
    message: "This API key's plan does not include this action.",
  },
  forbidden: {
    when: 'the key does not permit the action',
    statuses: [only(403)],
    code: 'FORBIDDEN',
    message: 'This API key is not permitted to do this.',
    quotes: true,
  },
  absent: {
    when: 'the service has no such record. A read is null',
    statuses: [only(404)],
    code: 'NOT_FOUND',
    message: 'The notification service has no such record.',
    quotes: true,
  },
  gone: {
    when: 'the record no longer exists. A read is null',
    statuses: [only(410)],
    code: 'NOT_FOUND',
    message: 'The notification service has no such record.',
  },
  conflict: {
    when: 'the record exists, or has another state; also 422 about the idempotency key',
    statuses: [only(409)],
    code: 'CONFLICT',
    message: 'The request conflicts with the current state of the record.',
    quotes: true,
    passesRetryAfter: true,
  },
  inProgress: {
    when: '409 with `Retry-After`: an earlier request with the idempotency key is in progress, or was interrupted',
    code: 'UPSTREAM_UNAVAILABLE',
    message:
      'An earlier request with this idempotency key is in progress, or was interrupted and may have been applied. Repeat the request with the same key.',
    passesRetryAfter: true,
    retryable: true,
    retry: 'repeatable',
    outcome: 'UNKNOWN',
    isTemporary: true,
  },
  rateLimited: {
    when: 'the key has used up the rate limit of the service',
    statuses: [only(429)],
    code: 'RATE_LIMITED',
    message: 'This API key has exceeded the rate limit of the notification service.',
    passesRetryAfter: true,
    retryable: true,
    retry: 'always',
    isTemporary: true,
  },
  tooEarly: {
    when: 'the service is not ready, and has not processed the request',
    statuses: [only(425)],
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service is unavailable.',
    passesRetryAfter: true,
    retryable: true,
    retry: 'repeatable',
    isOutage: true,
    isTemporary: true,
  },
  /** Frameworks send 408 while the handler goes on, and CDNs 520 to 530 if the service doesn't answer them. */
  unavailable: {
    when: 'the service, or a way to it, is down for a while',
    statuses: [only(408), [502, 503], [520, 530]],
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service is unavailable.',
    passesRetryAfter: true,
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
    isTemporary: true,
  },
  unanswered: {
    when: 'no headers within most of `attemptTimeoutMs`, or a proxy says so',
    statuses: [only(504)],
    code: 'UPSTREAM_TIMEOUT',
    message: 'The notification service did not respond in time.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
    isTemporary: true,
  },
  /** The status of nginx. */
  proxyGaveUp: {
    when: 'a proxy takes the client for gone',
    statuses: [only(499)],
    code: 'UPSTREAM_ERROR',
    message: 'The notification service rejected the request (status {status}).',
    retryable: false,
    outcome: 'UNKNOWN',
  },
  rejected: {
    when: 'any other refusal',
    statuses: [[400, 499]],
    code: 'UPSTREAM_ERROR',
    message: 'The notification service rejected the request (status {status}).',
  },
  failed: {
    when: 'the service fails on this request',
    statuses: [[500, 999]],
    code: 'UPSTREAM_ERROR',
    message: 'The notification service failed on this request.',
    retryable: false,
    outcome: 'UNKNOWN',
    isTemporary: true,
  },
  foreign: {
    when: 'something else answers: a redirect, or a router without this path',
    code: 'UPSTREAM_BAD_RESPONSE',
    isForeign: true,
    isTemporary: true,
  },
  blocked: {
    when: 'a firewall or proxy answers 401 or 403 with a page',
    code: 'UPSTREAM_BAD_RESPONSE',
    message: 'A proxy or firewall in front of the notification service rejected the request (status {status}).',
    isForeign: true,
  },
  badResponse: {
    when: 'the response does not match the contract, or is no valid HTTP',
    code: 'UPSTREAM_BAD_RESPONSE',
    message: 'The notification service sent an invalid response.',
    retryable: false,
    outcome: 'UNKNOWN',
  },
  notConnected: {
    when: 'no connection. If a certificate or the proxy is the reason, it is not repeated',
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service cannot be reached.',
    retryable: true,
    retry: 'always',
    isOutage: true,
    isTemporary: true,
  },
  brokenConnection: {
    when: 'the connection breaks before the end of the response',
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The connection to the notification service broke before it responded.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isOutage: true,
    isTemporary: true,
  },
  timedOut: {
    when: 'no complete response in time',
    code: 'UPSTREAM_TIMEOUT',
    message: 'The notification service did not respond in time.',
    outcome: 'UNKNOWN',
    retry: 'repeatable',
    isTemporary: true,
  },
  notSentInTime: {
    when: '`operationTimeoutMs` passes before the request is sent',
    code: 'UPSTREAM_TIMEOUT',
    message: 'The operation timed out before the notification service was called.',
    retryable: true,
    sent: false,
    isTemporary: true,
  },
  noSocket: {
    when: 'all `sockets` are busy until `operationTimeoutMs` passes',
    code: 'OVERLOADED',
    message:
      'All connections of the gateway to the notification service are busy (setting sockets). Send the request again in a moment.',
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
    isTemporary: true,
  },
  clientClosed: {
    when: 'the client has disconnected, so nobody sees the error',
    code: 'CLIENT_CLOSED',
    message: 'The client has disconnected.',
  },
  circuitOpen: {
    when: '[the circuit breaker](#the-circuit-breaker) is open',
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service was recently unavailable. Calls to it are paused.',
    retryable: true,
    sent: false,
    isTemporary: true,
  },
  throttled: {
    when: 'the service has reported that the rate limit of the key is used up',
    code: 'RATE_LIMITED',
    message: 'This API key has exceeded the rate limit of the notification service. Calls are paused until it resets.',
    retryable: true,
    sent: false,
    isTemporary: true,
  },
  queueFull: {
    when: 'too many calls with the key are waiting',
    code: 'OVERLOADED',
    message: 'Too many calls with this API key are waiting. Send fewer at once.',
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
    isTemporary: true,
  },
  buffersFull: {
    when: '`maxBufferedBytes` of responses are being received',
    code: 'OVERLOADED',
    message: 'The gateway is receiving too much data from the notification service.',
    retryAfterSeconds: 1,
    outcome: 'UNKNOWN',
    isTemporary: true,
  },
  auditUnavailable: {
    when: 'the audit log is required and cannot be written',
    code: 'AUDIT_UNAVAILABLE',
    message: 'Changes are not possible at the moment, because the gateway cannot record them.',
    retryable: true,
    retryAfterSeconds: 1,
    sent: false,
  },
  missingCredential: {
    when: 'the request has no credential',
    code: 'UNAUTHENTICATED',
    message: 'Missing credential. Set the Authorization header to "ApiKey <your key>" or "Bearer <your token>".',
    sent: false,
  },
  budgetExceeded: {
    when: 'the operation has made `maxUpstreamCalls` calls',
    code: 'BUDGET_EXCEEDED',
    sent: false,
  },
  invalidInput: {
    when: 'the gateway refuses an id or a text',
    code: 'BAD_USER_INPUT',
    sent: false,
  },
} as const satisfies Record<string, FailureMeaning>;

export type FailureKind = keyof typeof FAILURES;

/** Kinds of failures that have a value for a member of their meaning. */
export type KindWith<Member extends keyof FailureMeaning> = {
  [Kind in FailureKind]: Member extends keyof (typeof FAILURES)[Kind] ? Kind : never;
}[FailureKind];

/** Codes of failed upstream calls. */
export type UpstreamErrorCode = (typeof FAILURES)[FailureKind]['code'];

export const meaningOf = (kind: FailureKind): FailureMeaning & { readonly code: UpstreamErrorCode } => FAILURES[kind];

const KINDS = Object.keys(FAILURES) as FailureKind[]; // All of its keys.

/** Returns the kind of failure that a status means. One that means neither success nor failure is a bad response. */
export const kindOfStatus = (status: number): KindWith<'statuses'> | 'badResponse' =>
  KINDS.find(
    (kind): kind is KindWith<'statuses'> =>
      meaningOf(kind).statuses?.some(([first, last]) => status >= first && status <= last) === true,
  ) ?? 'badResponse';

/** Whether a response with this status shows that the service is down. */
export const isOutageStatus = (status: number): boolean =>
  status >= 400 && meaningOf(kindOfStatus(status)).isOutage === true;
