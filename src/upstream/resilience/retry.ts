import type { Settings } from '../../settings/settings.ts';
import { isUpstreamError, type UpstreamError } from '../errors/errors.ts';
import { afterUnknownOutcome } from '../errors/failures.ts';
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

/** Call that may be retried. */
export interface RetryableCall {
  /** Whether the service can apply the call twice without harm. */
  isRepeatable: boolean;
  signal: Signal;
  /** Deadline of the call, on the clock of `performance.now()`. */
  deadlineAt: number;
  /** Called before the pause that precedes a retry. */
  onDelay?: ((milliseconds: number) => void) | undefined;
}

/** Runs a call, and retries it if necessary. */
export type Retry = <T>(call: RetryableCall, attempt: () => Promise<T>) => Promise<T>;

/**
 * Creates the policy that retries temporary failures as `RetryRule` permits. Delays have full jitter, so that callers don't retry in
 * unison. A budget for the whole upstream limits retries, so that they can't keep a service down.
 *
 * @param random source of random numbers from 0 to 1, for the jitter
 */
export function createRetry(settings: RetrySettings, random: () => number = Math.random): Retry {
  const { maxRetries, retryBaseDelayMs, retryMaxDelayMs, maxRetryAfterSeconds } = settings;
  const budget = createRetryBudget({ share: settings.retryBudgetPercent / 100, floor: settings.retryBudgetFloor });

  /** Returns the delay before the next attempt, in milliseconds; undefined if the call is not retried. */
  function planDelay(error: UpstreamError, call: RetryableCall, retries: number): number | undefined {
    if (retries >= maxRetries || call.signal.aborted) {
      return undefined;
    }
    if (error.retry === 'never' || (error.retry === 'repeatable' && !call.isRepeatable)) {
      return undefined;
    }
    const { retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined && retryAfterSeconds > maxRetryAfterSeconds) {
      return undefined;
    }
    const delay =
      (retryAfterSeconds ?? 0) * 1_000 + random() * Math.min(retryMaxDelayMs, retryBaseDelayMs * 2 ** retries);
    return performance.now() + delay < call.deadlineAt ? delay : undefined;
  }

  return async (call, attempt) => {
    let isOutcomeUnknown = false;
    let isRetrying = false;
    budget.startCall();
    try {
      for (let retries = 0; ; retries += 1) {
        try {
          return await attempt();
        } catch (failure) {
          if (isRetrying) {
            budget.endRetry();
            isRetrying = false;
          }
          const error: unknown = isOutcomeUnknown && isUpstreamError(failure) ? afterUnknownOutcome(failure) : failure;
          const delay = isUpstreamError(error) ? planDelay(error, call, retries) : undefined;
          if (delay === undefined) {
            throw error;
          }
          isOutcomeUnknown ||= isUpstreamError(error) && error.outcome === 'UNKNOWN';
          call.onDelay?.(delay);
          await sleep(delay, call.signal).catch(() => {}); // If aborted, the call fails with `error`.
          const maxWaitMs = Math.min(retryMaxDelayMs, call.deadlineAt - performance.now());
          isRetrying = !call.signal.aborted && (await budget.startRetry(maxWaitMs, call.signal));
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
