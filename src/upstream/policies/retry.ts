import type { Settings } from '../../settings/settings.ts';
import { afterUnknownOutcome, isUpstreamError, type UpstreamError } from '../errors.ts';
import { type Signal, sleep } from '../signal.ts';

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

/** Policy of retries. */
export interface Retry {
  /** Called before the first attempt of a call. */
  startCall(): void;
  /** Called when the call has ended. */
  endCall(): void;
  /** Returns the retries of a call whose first attempt failed. */
  retriesOf(call: RetryableCall): Retries;
}

/** Retries of one call. */
export interface Retries {
  /**
   * Waits until the call may be attempted again.
   *
   * @param failure failure of the last attempt
   * @throws the failure of the call, if it is not retried
   */
  next(failure: unknown): Promise<void>;
  /** Ends the retry that is in flight, if any. Called when the call has ended. */
  end(): void;
}

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

  class CallRetries implements Retries {
    readonly #call: RetryableCall;
    #count = 0;
    #isOutcomeUnknown = false;
    #isRetrying = false;

    constructor(call: RetryableCall) {
      this.#call = call;
    }

    async next(failure: unknown): Promise<void> {
      this.end();
      const { signal, deadlineAt, onDelay } = this.#call;
      const error: unknown =
        this.#isOutcomeUnknown && isUpstreamError(failure) ? afterUnknownOutcome(failure) : failure;
      const delay = isUpstreamError(error) ? planDelay(error, this.#call, this.#count) : undefined;
      if (delay === undefined) {
        throw error;
      }
      this.#count += 1;
      this.#isOutcomeUnknown ||= isUpstreamError(error) && error.outcome === 'UNKNOWN';
      onDelay?.(delay);
      await sleep(delay, signal).catch(() => {}); // If aborted, the call fails with `error`.
      const maxWaitMs = Math.min(retryMaxDelayMs, deadlineAt - performance.now());
      this.#isRetrying = !signal.aborted && (await budget.startRetry(maxWaitMs, signal));
      if (!this.#isRetrying) {
        throw error;
      }
    }

    end(): void {
      if (this.#isRetrying) {
        budget.endRetry();
        this.#isRetrying = false;
      }
    }
  }

  return { startCall: budget.startCall, endCall: budget.endCall, retriesOf: (call) => new CallRetries(call) };
}

/** Options of a retry budget. */
export interface RetryBudgetOptions {
  /** Maximum in-flight retries, as a share of the in-flight calls. */
  share: number;
  /** Number of in-flight retries that are always allowed. */
  floor: number;
}

/** Limit on in-flight retries, so that they can't keep a service down. */
export interface RetryBudget {
  /** Counts an in-flight call. */
  startCall(): void;
  /** Ends a call that `startCall` counted. */
  endCall(): void;
  /**
   * Waits until a retry is allowed, in the order of requests.
   *
   * @param maxWaitMs maximum time to wait, in milliseconds
   * @returns whether the retry is allowed; false if the time passed or the signal was aborted
   */
  startRetry(maxWaitMs: number, signal: Signal): Promise<boolean>;
  /** Ends a retry that `startRetry` allowed. */
  endRetry(): void;
}

/** Creates an empty retry budget. */
export function createRetryBudget({ share, floor }: RetryBudgetOptions): RetryBudget {
  const waiting = new Set<() => void>();
  let calls = 0;
  let retries = 0;

  const hasCapacity = () => retries + 1 <= Math.max(floor, share * calls);

  function allowWaiting(): void {
    for (const allow of waiting) {
      if (!hasCapacity()) {
        return;
      }
      waiting.delete(allow);
      retries += 1;
      allow();
    }
  }

  return {
    startCall() {
      calls += 1;
      allowWaiting();
    },
    endCall() {
      calls -= 1;
    },
    async startRetry(maxWaitMs, signal) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const allow = () => resolve(true);
      const giveUp = () => {
        waiting.delete(allow);
        resolve(false); // Has no effect if the retry was allowed at the same moment.
      };
      const timer = setTimeout(giveUp, maxWaitMs);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(allow);
      allowWaiting();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      }
    },
    endRetry() {
      retries -= 1;
      allowWaiting();
    },
  };
}
