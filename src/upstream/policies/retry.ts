import type { Settings } from '../../settings/settings.ts';
import type { UpstreamError } from '../errors.ts';

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
  readonly isRepeatable: boolean;
  /** Number of retries so far. */
  readonly retries: number;
  /** Deadline of the call, on the clock of `performance.now()`. */
  readonly deadlineAt: number;
}

/**
 * Policy that retries temporary failures as `RetryRule` permits. Delays have full jitter, so that callers don't retry in unison. A budget for the
 * whole upstream limits retries, so that they can't keep a service down.
 */
export class Retry {
  readonly budget: RetryBudget;
  readonly #settings: RetrySettings;
  readonly #random: () => number;

  /** @param random source of random numbers from 0 to 1, for the jitter */
  constructor(settings: RetrySettings, random: () => number = Math.random) {
    this.budget = new RetryBudget(settings.retryBudgetPercent / 100, settings.retryBudgetFloor);
    this.#settings = settings;
    this.#random = random;
  }

  /** Returns the delay before the next attempt, in milliseconds; undefined if the call is not retried. */
  delayOf({ isRepeatable, retries, deadlineAt }: RetryableCall, error: UpstreamError): number | undefined {
    const { maxRetries, retryBaseDelayMs, retryMaxDelayMs, maxRetryAfterSeconds } = this.#settings;
    const { retry, retryAfterSeconds = 0 } = error;
    const isPermitted = retry === 'always' || (retry === 'repeatable' && isRepeatable);
    if (!isPermitted || retries >= maxRetries || retryAfterSeconds > maxRetryAfterSeconds) {
      return undefined;
    }
    const jitter = this.#random() * Math.min(retryMaxDelayMs, retryBaseDelayMs * 2 ** retries);
    const delay = retryAfterSeconds * 1_000 + jitter;
    return performance.now() + delay < deadlineAt ? delay : undefined;
  }

  /** Returns the maximum time to wait for the budget, in milliseconds. */
  maxWaitMs(deadlineAt: number): number {
    return Math.min(this.#settings.retryMaxDelayMs, deadlineAt - performance.now());
  }
}

/** Call that waits until a retry is allowed. */
export interface RetryingCall {
  /** Called once the retry is allowed. */
  resend(): void;
}

/** Limit on in-flight retries, so that they can't keep a service down. */
class RetryBudget {
  readonly #share: number;
  readonly #floor: number;
  readonly #waiting = new Set<RetryingCall>();
  #calls = 0;
  #retries = 0;
  #isAllowing = false;

  /**
   * @param share maximum in-flight retries, as a share of the in-flight calls
   * @param floor number of in-flight retries that are always allowed
   */
  constructor(share: number, floor: number) {
    this.#share = share;
    this.#floor = floor;
  }

  /** Counts an in-flight call. */
  startCall(): void {
    this.#calls += 1;
    this.#allowWaiting();
  }

  /** Ends a call that `startCall` counted. */
  endCall(): void {
    this.#calls -= 1;
  }

  /** Allows a retry now or later, in the order of requests. */
  request(call: RetryingCall): void {
    this.#waiting.add(call);
    this.#allowWaiting();
  }

  /** Withdraws a request. */
  withdraw(call: RetryingCall): void {
    this.#waiting.delete(call);
  }

  /** Ends a retry that was allowed. */
  endRetry(): void {
    this.#retries -= 1;
    this.#allowWaiting();
  }

  #allowWaiting(): void {
    if (this.#isAllowing) {
      return; // A retry has ended at once, and the loop below goes on. Here it would nest as deep as calls wait.
    }
    this.#isAllowing = true;
    for (const call of this.#waiting) {
      if (this.#retries + 1 > Math.max(this.#floor, this.#share * this.#calls)) {
        break;
      }
      this.#waiting.delete(call);
      this.#retries += 1;
      call.resend();
    }
    this.#isAllowing = false;
  }
}
