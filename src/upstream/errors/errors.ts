import type { UpstreamRateLimit } from './rate-limit.ts';

/**
 * What can go wrong with a call of the upstream service. The codes are stable: match them, not the texts.
 *
 * | code | when |
 * | --- | --- |
 * | BAD_USER_INPUT | the service refused the input (400, 422), or an id was refused before the call |
 * | UNAUTHENTICATED | no credential, or the service does not accept it (401) |
 * | FORBIDDEN | the service accepts the key, not the action (402, 403) |
 * | NOT_FOUND | 404 and 410 on a write; a read answers null instead |
 * | CONFLICT | 409, and 422 when it speaks of the idempotency key |
 * | RATE_LIMITED | 429, or not called because the service has said that it would be |
 * | UPSTREAM_ERROR | 500, 501, 505 and every other 4xx |
 * | UPSTREAM_UNAVAILABLE | 502, 503, no connection, the connection broke, or the circuit breaker is open |
 * | UPSTREAM_TIMEOUT | 504, or no complete answer within the deadline |
 * | UPSTREAM_BAD_RESPONSE | an answer that breaks the contract |
 * | OVERLOADED | too many calls of this credential wait already |
 * | BUDGET_EXCEEDED | the operation has used up its upstream calls |
 * | CLIENT_CLOSED | the client has disconnected, so nobody waits for the answer; only the log and the metrics see it |
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
  | 'CLIENT_CLOSED';

/** What became of a failed write. `NOT_APPLIED` is proved, and safe to send again; `UNKNOWN` may have been carried out. */
export type WriteOutcome = 'NOT_APPLIED' | 'UNKNOWN';

/** Why a write conflicted. */
export type ConflictReason = 'ALREADY_EXISTS' | 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_REUSED' | 'OTHER';

/**
 * Whether the gateway itself may send the call again: `always` when the service cannot have carried it out, `repeatable` when
 * only a call that may be carried out twice can be sent again, `never` when it would fail again or must not be repeated.
 */
export type RetryRule = 'always' | 'repeatable' | 'never';

/** One thing that is wrong with the input. */
export interface InputIssue {
  /** Names of the path parameter or body fields, outermost first; empty when the whole input is meant. */
  path: string[];
  message: string;
}

/** The endpoint a call was for. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path template, without ids: `/v1/feeds/{feedId}`. */
  route: string;
}

export interface UpstreamErrorOptions {
  code: UpstreamErrorCode;
  /** One sentence for the caller: no host, address, id, key or text of a library. */
  message: string;
  endpoint: Endpoint;
  /** The HTTP status, when there was an answer. */
  status?: number | undefined;
  /** Whether the caller, sending the same again, can succeed and is safe. @default false */
  retryable?: boolean;
  retryAfterSeconds?: number | undefined;
  /** Writes only. @default 'NOT_APPLIED' */
  outcome?: WriteOutcome | undefined;
  /** The upstream's own name of the failure, to look it up in its logs. */
  errorId?: string | undefined;
  issues?: InputIssue[] | undefined;
  conflict?: ConflictReason | undefined;
  /** What the service said about its limit. */
  rateLimit?: UpstreamRateLimit | undefined;
  /** @default 'never' */
  retry?: RetryRule;
  /** Whether it says that the service is down, rather than anything about this call. @default false */
  isOutage?: boolean;
  /** Whether the call left this process. @default true */
  sent?: boolean;
  /** The original error, for the log only. */
  cause?: unknown;
}

/** A failed call of the upstream service; `message` is fit for the caller's eyes. */
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

export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError;
