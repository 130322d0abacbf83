import { InvalidUrlError } from './global-fetch.ts';
import { type GatewayError, type OperationResult, UnexpectedResponseError } from './result.ts';

/** Result of an attempt, or the error that it threw. */
export type Attempt<Result> = { result: OperationResult<Result> } | { cause: unknown };

/** Properties of a request that decide whether it can be repeated. */
export interface Repeatability {
  /** Whether the document can contain a mutation. */
  isWrite: boolean;
  /** Whether the caller chose an idempotency key, so that repeats after an unknown outcome are safe. */
  hasOwnKey: boolean;
}

/** Wait before the first repeat if the gateway asks for none, in seconds. It doubles for each further one. */
const FIRST_WAIT_SECONDS = 0.5;

/** Returns whether repeating a request is safe and can succeed. */
export function canRepeat(attempt: Attempt<unknown>, { isWrite, hasOwnKey }: Repeatability): boolean {
  if ('cause' in attempt) {
    return isTemporary(attempt.cause) && (!isWrite || hasOwnKey);
  }
  const { errors, data } = attempt.result;
  const isRetryable = errors?.every(({ extensions }) => extensions.retryable) ?? false;
  return isRetryable && (!isWrite || isUnapplied(data, errors ?? []));
}

/** Returns whether a request without a response of the gateway can succeed later: no connection, or a proxy that can't reach the gateway. */
const isTemporary = (cause: unknown): boolean =>
  cause instanceof UnexpectedResponseError
    ? [429, 502, 503, 504].includes(cause.status)
    : !(cause instanceof InvalidUrlError);

/**
 * Returns whether none of a mutation's fields was applied. Errors below a field don't prove this: they can be those of reads after a write.
 */
function isUnapplied(data: unknown, errors: readonly GatewayError[]): boolean {
  if (data === null) {
    return errors.every(({ path, extensions }) => path === undefined && extensions.outcome !== 'UNKNOWN');
  }
  return Object.keys(Object(data)).every((field) =>
    errors.some(
      ({ path, extensions }) => path?.length === 1 && path[0] === field && extensions.outcome === 'NOT_APPLIED',
    ),
  );
}

/** Returns the time to wait after an attempt, in seconds: what the response asks for, or an exponential backoff. */
export function waitOf(current: Attempt<unknown>, attempt: number): number {
  const asked =
    'result' in current
      ? [
          readRetryAfter(current.result.headers),
          ...(current.result.errors ?? []).map(({ extensions }) => extensions.retryAfterSeconds ?? 0),
        ]
      : [current.cause instanceof UnexpectedResponseError ? readRetryAfter(current.cause.headers) : 0];
  return Math.max(...asked) || FIRST_WAIT_SECONDS * 2 ** (attempt - 1);
}

/** Reads `Retry-After`, which is a number of seconds or a date. Returns 0 if it is absent or malformed. */
function readRetryAfter(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return seconds > 0 ? seconds : 0;
}
