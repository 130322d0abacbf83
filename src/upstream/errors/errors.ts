import type { UpstreamRateLimit } from './rate-limit.ts';

/**
 * Codes of failed upstream calls. They are stable: match them, not the messages.
 *
 * | code | when |
 * | --- | --- |
 * | BAD_USER_INPUT | the service rejected the input (400, 422), or an id was rejected before the call |
 * | UNAUTHENTICATED | no credential, or the service does not accept it (401) |
 * | FORBIDDEN | the service accepts the key, but not for this action (402, 403) |
 * | NOT_FOUND | 404 and 410 on a write; a read returns null instead |
 * | CONFLICT | 409, and 422 if the message mentions the idempotency key |
 * | RATE_LIMITED | 429, or not called because the service reported an exhausted limit |
 * | UPSTREAM_ERROR | 500, 501, 505 and every other 4xx |
 * | UPSTREAM_UNAVAILABLE | 502, 503, no connection, the connection broke, or the circuit breaker is open |
 * | UPSTREAM_TIMEOUT | 504, or no complete response within the deadline |
 * | UPSTREAM_BAD_RESPONSE | a response that violates the contract |
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

/** Reason for a conflict. */
export type ConflictReason = 'ALREADY_EXISTS' | 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_REUSED' | 'OTHER';

/**
 * Whether the gateway may retry the call: `always` if the service can't have applied it, `repeatable` if it may only be retried when
 * applying it twice is harmless, `never` if it would fail again or must not be retried.
 */
export type RetryRule = 'always' | 'repeatable' | 'never';

/** Problem with the input. */
export interface InputIssue {
  /** Name of the path parameter or body fields, outermost first; empty if the problem concerns the whole input. */
  path: string[];
  message: string;
}

/** Endpoint of a call. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template, without ids: `/v1/feeds/{feedId}`. */
  route: string;
}

/** Fields of an `UpstreamError`. */
export interface UpstreamErrorOptions {
  code: UpstreamErrorCode;
  /** Message for the caller. Contains no host, address, id, key or text of a library. */
  message: string;
  endpoint: Endpoint;
  /** HTTP status; undefined without a response. */
  status?: number | undefined;
  /** Whether the caller can safely send the same request again, and it may succeed. @default false */
  retryable?: boolean;
  /** Time after which the caller can try again. */
  retryAfterSeconds?: number | undefined;
  /** Outcome of a write; ignored for reads. @default 'NOT_APPLIED' */
  outcome?: WriteOutcome | undefined;
  /** The service's own id of the failure, to find it in its logs. */
  errorId?: string | undefined;
  /** Problems with the input. @default none */
  issues?: InputIssue[] | undefined;
  /** Reason for a conflict. @default 'OTHER' */
  conflict?: ConflictReason | undefined;
  /** The service's rate limit, as reported with the response. */
  rateLimit?: UpstreamRateLimit | undefined;
  /** Whether the gateway may retry the call. @default 'never' */
  retry?: RetryRule;
  /** Whether the failure shows that the service is down, and doesn't concern only this call. @default false */
  isOutage?: boolean;
  /** Whether a request was sent. @default true */
  sent?: boolean;
  /** Original error, only for the log. */
  cause?: unknown;
}

/** Failed upstream call. Its `message` can be shown to the caller. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  readonly endpoint: Endpoint;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly outcome: WriteOutcome | undefined;
  readonly errorId: string | undefined;
  readonly issues: InputIssue[];
  readonly conflict: ConflictReason;
  readonly rateLimit: UpstreamRateLimit | undefined;
  readonly retry: RetryRule;
  readonly isOutage: boolean;
  readonly sent: boolean;

  constructor(options: UpstreamErrorOptions) {
    super(options.message, { cause: options.cause });
    this.code = options.code;
    this.endpoint = options.endpoint;
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
    this.sent = options.sent ?? true;
  }
}

/** Returns whether an error is an `UpstreamError`. */
export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError;

/** Returns what the log says about the cause of an error: its code, or else its message. */
export function describeCause(cause: unknown): string | undefined {
  if (cause instanceof Error || cause instanceof DOMException) {
    const code: unknown = Reflect.get(cause, 'code');
    return typeof code === 'string' ? code : cause.message;
  }
  return typeof cause === 'string' ? cause : undefined;
}
