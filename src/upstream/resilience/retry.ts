import { isUpstreamError, type UpstreamError } from '../errors/errors.ts';
import { afterUnknownFate } from '../errors/failures.ts';
import type { Signal } from '../transport/signal.ts';
import { sleep } from './abortable.ts';
import { createRetryBudget } from './retry-budget.ts';

export interface RetryOptions {
  /** Retries of one call at most. @default 2 */
  maxRetries?: number;
  /** The longest first pause, doubled each time, in milliseconds. @default 100 */
  baseDelayMs?: number;
  /** The longest pause, and the longest wait for a place in the budget, in milliseconds. @default 1000 */
  maxDelayMs?: number;
  /** A `Retry-After` up to this is obeyed; a longer one is handed on to the caller. @default 2 */
  maxRetryAfterSeconds?: number;
  /** Retries on their way at any time, as a share of the calls on their way. @default 0.2 */
  budgetShare?: number;
  /** Retries that are always allowed on their way. @default 3 */
  budgetFloor?: number;
  /** From 0 to 1, for the jitter. @default Math.random */
  random?: () => number;
}

/** What a retry must know of its call. */
export interface RetriedCall {
  /** Whether the service may carry the call out twice without harm. */
  isRepeatable: boolean;
  signal: Signal;
  /** When the call has to be answered, on the clock of `performance.now()`. */
  deadlineAt: number;
}

/** Runs a call with its retries. */
export type Retry = <T>(call: RetriedCall, attempt: () => Promise<T>) => Promise<T>;

/**
 * Sends a call again after a failure that may pass: with full jitter, so that many callers do not come back at once, and within a
 * budget for the whole upstream, so that retries cannot keep a service down. Nothing is repeated blindly: see `RetryRule`.
 */
export function createRetry({
  maxRetries = 2,
  baseDelayMs = 100,
  maxDelayMs = 1_000,
  maxRetryAfterSeconds = 2,
  budgetShare = 0.2,
  budgetFloor = 3,
  random = Math.random,
}: RetryOptions = {}): Retry {
  const budget = createRetryBudget({ share: budgetShare, floor: budgetFloor });

  /** The pause before the next attempt, in milliseconds; undefined: there is none. */
  function planPause(error: UpstreamError, call: RetriedCall, retried: number): number | undefined {
    if (retried >= maxRetries || call.signal.aborted) {
      return undefined;
    }
    if (error.retry === 'never' || (error.retry === 'repeatable' && !call.isRepeatable)) {
      return undefined;
    }
    const { retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined && retryAfterSeconds > maxRetryAfterSeconds) {
      return undefined;
    }
    const pause = (retryAfterSeconds ?? 0) * 1_000 + random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retried);
    return performance.now() + pause < call.deadlineAt ? pause : undefined;
  }

  return async (call, attempt) => {
    let isFateUnknown = false;
    let isRetrying = false;
    budget.startCall();
    try {
      for (let retried = 0; ; retried += 1) {
        try {
          return await attempt();
        } catch (failure) {
          if (isRetrying) {
            budget.endRetry();
            isRetrying = false;
          }
          const error: unknown = isFateUnknown && isUpstreamError(failure) ? afterUnknownFate(failure) : failure;
          const pause = isUpstreamError(error) ? planPause(error, call, retried) : undefined;
          if (pause === undefined) {
            throw error;
          }
          isFateUnknown ||= isUpstreamError(error) && error.outcome === 'UNKNOWN';
          await sleep(pause, call.signal).catch(() => {}); // Who leaves meanwhile is told of the failure that is known.
          const patience = Math.min(maxDelayMs, call.deadlineAt - performance.now());
          isRetrying = !call.signal.aborted && (await budget.startRetry(patience, call.signal));
          if (!isRetrying) {
            throw error;
          }
        }
      }
    } finally {
      if (isRetrying) {
        budget.endRetry();
      }
      budget.endCall();
    }
  };
}
