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
 * | RATE_LIMITED | 429 |
 * | UPSTREAM_ERROR | 500, 501, 505 and every other 4xx |
 * | UPSTREAM_UNAVAILABLE | 502, 503, no connection, or the connection broke |
 * | UPSTREAM_TIMEOUT | 504, or no complete answer within the deadline |
 * | UPSTREAM_BAD_RESPONSE | an answer that breaks the contract |
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
  | 'UPSTREAM_BAD_RESPONSE';

/** What became of a failed write. `NOT_APPLIED` is proved, and safe to send again; `UNKNOWN` may have been carried out. */
export type WriteOutcome = 'NOT_APPLIED' | 'UNKNOWN';

/** Why a write conflicted. */
export type ConflictReason = 'ALREADY_EXISTS' | 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_REUSED' | 'OTHER';

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
  /** Whether sending the same again can help. @default false */
  retryable?: boolean;
  retryAfterSeconds?: number | undefined;
  /** Writes only. */
  outcome?: WriteOutcome | undefined;
  /** The upstream's own name of the failure, to look it up in its logs. */
  errorId?: string | undefined;
  issues?: InputIssue[] | undefined;
  conflict?: ConflictReason | undefined;
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
  /** Whether the call left this process: false when it was refused before. */
  readonly sent: boolean;

  constructor(options: UpstreamErrorOptions & { sent?: boolean }) {
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
    this.sent = options.sent ?? true;
  }
}

export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError;

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

/** No complete answer in time, after the request may have arrived. */
export const timedOut = (endpoint: Endpoint, status: number | undefined, cause?: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: ofUnknownFate(endpoint, 'The notification service did not answer in time.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    outcome: 'UNKNOWN',
    cause,
  });

/** The deadline had passed, or the caller was gone, before anything was sent. */
export const notSentInTime = (endpoint: Endpoint, cause?: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_TIMEOUT',
    message: 'The time for this operation was over before the notification service was asked.',
    endpoint,
    retryable: true,
    outcome: 'NOT_APPLIED',
    sent: false,
    cause,
  });

/** No connection could be made, so nothing was carried out. */
export const notConnected = (endpoint: Endpoint, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The notification service cannot be reached.',
    endpoint,
    retryable: true,
    outcome: 'NOT_APPLIED',
    cause,
  });

/** The service is down or restarting, or the connection broke after the request was sent. */
export const unavailable = (
  endpoint: Endpoint,
  { status, retryAfterSeconds, cause }: { status?: number; retryAfterSeconds?: number | undefined; cause?: unknown },
): UpstreamError =>
  new UpstreamError({
    code: 'UPSTREAM_UNAVAILABLE',
    message: ofUnknownFate(endpoint, 'The notification service is not available at the moment.'),
    endpoint,
    status,
    retryable: endpoint.method === 'GET',
    retryAfterSeconds,
    outcome: 'UNKNOWN',
    cause,
  });

/** The caller gave no credential; nothing was sent. */
export const noCredential = (endpoint: Endpoint): UpstreamError =>
  new UpstreamError({
    code: 'UNAUTHENTICATED',
    message: 'This needs an API key: send the header "Authorization: ApiKey <your key>".',
    endpoint,
    sent: false,
  });

/** The input was refused here; nothing was sent. */
export const refusedInput = (endpoint: Endpoint, issue: InputIssue): UpstreamError =>
  new UpstreamError({
    code: 'BAD_USER_INPUT',
    message: issue.message,
    endpoint,
    issues: [issue],
    sent: false,
  });
