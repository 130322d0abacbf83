// Defines the errors of upstream calls, and creates those that are known by more than a status. `transport/to-error.ts` creates the others.

import { errorCodeOf } from '../lib/caught.ts';
import { isTimeoutError } from '../lib/signal.ts';
import {
  FAILURES,
  type FailureKind,
  type FailureMeaning,
  type KindWith,
  meaningOf,
  type RetryRule,
  type UpstreamErrorCode,
  type WriteOutcome,
} from './failures.ts';

export type { WriteOutcome } from './failures.ts';

export type ConflictReason = 'ALREADY_EXISTS' | 'IDEMPOTENCY_KEY_REUSED' | 'OTHER';

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
  readonly rateLimit: RateLimitState | undefined;
  /** Whether the gateway may retry the call. @default 'never' */
  readonly retry: RetryRule;
  /** Whether the failure shows that the service is down, and doesn't concern only this call. @default false */
  readonly isOutage: boolean;
  /** Whether a proxy, a firewall or a router without this path answered for the service. @default false */
  readonly isForeign: boolean;
  /** Whether the same request may succeed later. @default false */
  readonly isTemporary: boolean;
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
    this.isTemporary = options.isTemporary ?? false;
    this.isReplayed = options.isReplayed ?? false;
    this.sent = options.sent ?? true;
  }
}

/**
 * Fields of an `UpstreamError`. Its `message` is for the caller, so it contains no host, address, id, key or text of a library; its `cause` is only for
 * the log.
 */
type UpstreamErrorOptions = Pick<UpstreamError, 'code' | 'message' | 'endpoint'> & Partial<Omit<UpstreamError, 'name'>>;

export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError;

/** Whether the same request may succeed later, whichever failure with this code it is. */
export function isTemporaryCode(code: string): boolean {
  const meanings = Object.values<FailureMeaning>(FAILURES).filter((each) => each.code === code);
  return meanings.length > 0 && meanings.every(({ isTemporary }) => isTemporary);
}

/** Returns what the log says about the cause of an error: its code, or else its message. */
export function describeCause(cause: unknown): string | undefined {
  if (cause instanceof Error) {
    return errorCodeOf(cause) ?? cause.message;
  }
  return typeof cause === 'string' ? cause : undefined;
}

/** Added to the message of a failed write that may have been applied. */
export const OUTCOME_UNKNOWN = 'The change may have been applied. Check before sending it again.';

/** Adds that a write may have been applied to a message. */
export const addUnknownOutcome = (message: string): string => `${endSentence(message)} ${OUTCOME_UNKNOWN}`;

const endSentence = (message: string): string => message.replace(/[^.!?…]$/, '$&.');

type Facts = Partial<Omit<UpstreamErrorOptions, 'code' | 'endpoint' | 'message'>> & { message?: string | undefined };

/**
 * Returns the error for a failure of a kind, with what is known about this one. If its outcome is unknown, a read can be sent again, and the message of a
 * write that can't says so.
 */
export function errorOf(kind: KindWith<'message'>, endpoint: Endpoint, facts?: Facts): UpstreamError;
export function errorOf(kind: FailureKind, endpoint: Endpoint, facts: Facts & { message: string }): UpstreamError;
export function errorOf(kind: FailureKind, endpoint: Endpoint, facts: Facts = {}): UpstreamError {
  const meaning = meaningOf(kind);
  const { message = String(meaning.message).replace('{status}', String(facts.status)) } = facts; // Kinds without one require it.
  const isRead = endpoint.method === 'GET';
  const isUnknown = meaning.outcome === 'UNKNOWN';
  return new UpstreamError({
    retryable: isRead && isUnknown,
    ...meaning,
    ...facts,
    message: isUnknown && !isRead && !meaning.retryable ? addUnknownOutcome(message) : message,
    endpoint,
  });
}

export function clientClosed(
  endpoint: Endpoint,
  { sent, status, outcome }: Pick<UpstreamError, 'sent' | 'status' | 'outcome'>,
  cause: unknown,
): UpstreamError {
  const retryable = endpoint.method === 'GET' || outcome === 'NOT_APPLIED';
  return errorOf('clientClosed', endpoint, { status, retryable, outcome, sent, cause });
}

/**
 * Returns the error for a call that ended before its response.
 *
 * @param progress state of the request when the call ended, and whether that counts as an outage. @default if its status does
 * @param reason `TimeoutError` for a deadline; anything else means that the client has disconnected
 */
export function endedEarly(
  endpoint: Endpoint,
  {
    sent,
    status,
    isOutage = false,
    waitsForSocket = false,
  }: { sent: boolean; status?: number | undefined; isOutage?: boolean; waitsForSocket?: boolean },
  reason: unknown,
): UpstreamError {
  if (!isTimeoutError(reason)) {
    return clientClosed(endpoint, { sent, status, outcome: sent ? 'UNKNOWN' : 'NOT_APPLIED' }, reason);
  }
  return sent
    ? errorOf(isOutage ? 'unanswered' : 'timedOut', endpoint, { status, cause: reason })
    : errorOf(waitsForSocket ? 'noSocket' : 'notSentInTime', endpoint, { cause: reason });
}

/** Returns the error for a call after an attempt or another write that may have been applied, even if this call was rejected or is a read. */
export function afterUnknownOutcome(error: UpstreamError): UpstreamError {
  const { message, cause, outcome } = error;
  const unknown = { ...error, message: addUnknownOutcome(message), retryable: false, cause };
  return outcome === 'UNKNOWN' ? error : Object.assign(new UpstreamError(unknown), { outcome: 'UNKNOWN' as const });
}

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
export const invalidInput = (endpoint: Endpoint, issues: InputIssue[]): UpstreamError =>
  errorOf('invalidInput', endpoint, { message: issues.map(({ message }) => message).join(' '), issues });

/** State of a rate limit: the service's for a credential, or the gateway's for a caller. */
export interface RateLimitState {
  /** Calls allowed per window. */
  limit?: number | undefined;
  /** Calls left in the current window. */
  remaining: number;
  /** Whole seconds until the window resets. */
  resetSeconds?: number | undefined;
  /** Category of endpoints that it applies to. @default all */
  category?: string | undefined;
}

/**
 * Returns the result of a read, and null also if the service reports with 400 that the record is missing, as it does for some.
 *
 * @param record type of the record, such as `Subscriber`, and its id
 */
export const nullIfAbsent = <Body>(
  read: Promise<Body>,
  record: { resource: string; id: string },
): Promise<Body | null> =>
  read.catch((error) => (isUpstreamError(error) && saysNotFound(error, record) ? null : Promise.reject(error)));

/** Whether the service's message says that the record is missing, as it does with 400. It can also miss others, such as one that uses it. */
export function saysNotFound(
  { status, message }: UpstreamError,
  { resource, id }: { resource: string; id: string },
  statuses: readonly (number | undefined)[] = [400],
): boolean {
  const bare = message.replace(` ${id} `, ' '); // Once, because an id can be a word of the sentence.
  const words = bare.split(/\s+/).filter((word) => bare !== message || /\w(?:.*\w)?/.exec(word)?.[0] !== id);
  const noun = resource.replace(/\B[A-Z]/g, ' ?$&');
  const forms = [
    `not find (?:(?:the|an?|any) )?${noun}\\b`,
    `no (?:such ${noun}\\b|${noun} (?:with|named|exists)\\b)`,
    `${noun}(?:Id)?(?:\\W+(?:with|the|id|identifier|named?|was|is|could|can))*\\W+(?:not (?:be )?found|(?:does(?: not|n't)|not) exist)\\b`,
  ];
  return statuses.includes(status) && new RegExp(`\\b(?:${forms.join('|')})`, 'i').test(words.join(' '));
}
