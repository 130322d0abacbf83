// Decides when a failed request is sent again.

import { InvalidUrlError } from './global-fetch.ts';
import { type GatewayError, type OperationResult, UnexpectedResponseError } from './result.ts';

/** Limits of the retries of one request. */
export interface RetryOptions {
  /** Maximum number of times that the request is sent. @default 3 */
  maxAttempts?: number;
  /**
   * Time after which no further attempt starts, in seconds since `request` was called. If the gateway asks for a longer wait, the failure
   * is returned at once.
   * @default 20
   */
  maxSeconds?: number;
}

/** Failed attempt that is about to be repeated. */
export interface RetryEvent {
  /** Number of the failed attempt, from 1. */
  attempt: number;
  /** Time until the next attempt, in milliseconds. */
  waitMs: number;
  /** Errors of the response. Absent if there was no response of a gateway. */
  errors?: readonly GatewayError[];
  /** Error of `fetch`, or an `UnexpectedResponseError`. Absent if the gateway responded. */
  cause?: unknown;
}

/**
 * Sends a request, and repeats it while that is safe and can succeed.
 *
 * @returns the first complete result. If there is none: for a query the result with the most data, for a mutation that of the last attempt
 */
export async function sendWithRetries<Result>(
  request: Repeatability & {
    /** Returns the headers of an attempt, if possible with another credential than an expired one. If it fails, the request fails. */
    authorize: (expired?: string) => Promise<Headers>;
    /** Sends the request once. */
    send: (headers: Headers) => Promise<OperationResult<Result>>;
    signal: AbortSignal | undefined;
    retries: RetryOptions;
    onRetry: ((event: RetryEvent) => void) | undefined;
  },
): Promise<OperationResult<Result>> {
  const { maxAttempts = 3, maxSeconds = 20 } = request.retries;
  const endsAt = performance.now() + maxSeconds * 1_000;
  let best: OperationResult<Result> | undefined;
  let isOutcomeUnknown = false;
  let headers = await request.authorize();
  let isRenewed = false;
  for (let attempt = 1; ; attempt += 1) {
    const current = await settle(request.send(headers));
    if (request.signal?.aborted && 'cause' in current) {
      throw current.cause;
    }
    if (!request.isWrite) {
      best = pickBetter<Result>(best, current);
    }
    const isLast = attempt >= maxAttempts;
    const renewed: Headers | undefined =
      isLast || isRenewed || !isExpired(current) ? undefined : await renew(headers, request.authorize);
    isRenewed ||= renewed !== undefined;
    const wait = isLast || !canRepeat(current, request) ? undefined : waitOf(current, attempt);
    const seconds = renewed === undefined ? wait : 0;
    const leftMs = endsAt - performance.now();
    if (seconds === undefined || seconds * 1_000 > leftMs) {
      return finish(best === undefined ? current : { result: best }, attempt, isOutcomeUnknown);
    }
    isOutcomeUnknown ||= request.isWrite && 'cause' in current;
    // A random part keeps clients from returning in unison.
    const waitMs = Math.ceil(Math.min(seconds * 1_000 * (1 + Math.random() / 4), leftMs, MAX_SLEEP_MS));
    request.onRetry?.({ attempt, waitMs, ...describe(current) });
    await sleep(waitMs, request.signal);
    headers = renewed ?? (await request.authorize());
  }
}

/** Returns the result of a request, or the reason why there is none. Never rejects. */
export const settle = <Result>(sent: Promise<OperationResult<Result>>): Promise<Attempt<Result>> =>
  sent.then(
    (result) => ({ result }),
    (cause: unknown) => ({ cause }),
  );

function finish<Result>(last: Attempt<Result>, attempts: number, isOutcomeUnknown: boolean): OperationResult<Result> {
  if ('cause' in last) {
    if (isOutcomeUnknown && last.cause instanceof UnexpectedResponseError) {
      last.cause.outcome = 'UNKNOWN';
    }
    throw last.cause;
  }
  const { result } = last;
  return result.errors !== undefined && isOutcomeUnknown
    ? { ...result, errors: result.errors.map(withUnknownOutcome), attempts }
    : { ...result, attempts };
}

/** Returns the error of a write of which an earlier attempt may have been applied, whatever happened to the last one. */
const withUnknownOutcome = (error: GatewayError): GatewayError => ({
  ...error,
  extensions: { ...error.extensions, retryable: false, outcome: 'UNKNOWN' },
});

/** Returns the complete result, the one with data, the one with fewer errors, or the later one. */
function pickBetter<Result>(
  best: OperationResult<Result> | undefined,
  current: Attempt<Result>,
): OperationResult<Result> | undefined {
  const later = 'result' in current ? current.result : undefined;
  if (best === undefined || !hasData(best) || (later !== undefined && later.errors === undefined)) {
    return later;
  }
  const isWorse = later === undefined || !hasData(later) || countErrors(later) > countErrors(best);
  return isWorse ? best : later;
}

const hasData = ({ data }: OperationResult<unknown>): boolean =>
  Object.values(data ?? {}).some((value) => value !== null);

const countErrors = ({ errors = [] }: OperationResult<unknown>): number => errors.length;

const describe = (attempt: Attempt<unknown>): Pick<RetryEvent, 'errors' | 'cause'> =>
  'cause' in attempt ? attempt : { errors: attempt.result.errors ?? [] };

/** Longest time that timers support, in milliseconds. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Waits. Rejects with the signal's reason as soon as the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) {
      stop();
    }
  });
}

/** Result of an attempt, or the error that it threw. */
export type Attempt<Result> = { result: OperationResult<Result> } | { cause: unknown };

/** Properties of a request that decide whether it can be repeated. */
interface Repeatability {
  /** Whether the document can contain a mutation. */
  isWrite: boolean;
  /** Whether the caller chose an idempotency key, so that repeats after an unknown outcome are safe. */
  hasOwnKey: boolean;
}

/** Returns whether the gateway refused a request, before it executed anything, because its token has expired. */
const isExpired = (attempt: Attempt<unknown>): boolean =>
  'result' in attempt && attempt.result.errors?.[0]?.extensions.reason === 'TOKEN_EXPIRED';

/** Returns the headers with another credential than the expired one. Returns undefined if there is no other. */
async function renew(
  headers: Headers,
  authorize: (expired?: string) => Promise<Headers>,
): Promise<Headers | undefined> {
  const expired = headers.get('authorization') ?? undefined;
  const renewed = await authorize(expired);
  return renewed.get('authorization') === expired ? undefined : renewed;
}

/** Wait before the first repeat if the gateway asks for none, in seconds. It doubles for each further one. */
const FIRST_WAIT_SECONDS = 0.5;

/** Returns whether repeating a request is safe and can succeed. */
export function canRepeat(attempt: Attempt<unknown>, { isWrite, hasOwnKey }: Repeatability): boolean {
  if ('cause' in attempt) {
    return isTemporary(attempt.cause) && (!isWrite || hasOwnKey);
  }
  const { errors, data } = attempt.result;
  return errors?.every(({ extensions }) => extensions.retryable) === true && (!isWrite || isUnapplied(data, errors));
}

/** Returns whether a request without a response of the gateway can succeed later: no connection, or a proxy that can't reach the gateway. */
const isTemporary = (cause: unknown): boolean =>
  cause instanceof UnexpectedResponseError
    ? cause.code !== 'REDIRECTED' &&
      ([408, 425, 429, 502, 503, 504].includes(cause.status) || (cause.status >= 520 && cause.status <= 530))
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
