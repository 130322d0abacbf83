import type { Settings } from '../../settings/settings.ts';
import { isUpstreamError, type UpstreamError } from '../errors/errors.ts';
import { afterUnknownFate } from '../errors/failures.ts';
import type { Signal } from '../transport/signal.ts';
import { sleep } from './abortable.ts';
import { createRetryBudget } from './retry-budget.ts';

/** Settings of retries. */
export type RetrySettings = Pick<
  Settings,
  | 'maxRetries'
  | 'retryBaseDelayMs'
  | 'retryMaxDelayMs'
  | 'maxRetryAfterSeconds'
  | 'retryBudgetPercent'
  | 'retryBudgetFloor'
>;

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
 *
 * @param random returns numbers from 0 to 1, for the jitter
 */
export function createRetry(settings: RetrySettings, random: () => number = Math.random): Retry {
  const { maxRetries, retryBaseDelayMs, retryMaxDelayMs, maxRetryAfterSeconds } = settings;
  const budget = createRetryBudget({ share: settings.retryBudgetPercent / 100, floor: settings.retryBudgetFloor });

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
    const pause =
      (retryAfterSeconds ?? 0) * 1_000 + random() * Math.min(retryMaxDelayMs, retryBaseDelayMs * 2 ** retried);
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
          const patience = Math.min(retryMaxDelayMs, call.deadlineAt - performance.now());
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
