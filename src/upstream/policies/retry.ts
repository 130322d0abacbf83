// Decides whether and when a failed call is sent again.

import type { GatewaySettings } from '../../settings/settings.ts';
import type { UpstreamError } from '../errors.ts';

export type RetrySettings = Pick<GatewaySettings, 'maxRetries'>;

/** Upper bounds of the first pause and of all pauses, in milliseconds. A short failure is over after the first; the others leave time within the deadline. */
const [BASE_DELAY_MS, MAX_DELAY_MS] = [100, 1_000];

/** Longest `Retry-After` that is waited for, in seconds. A client that waits longer should know, so it is passed on. */
const MAX_RETRY_AFTER_SECONDS = 2;

/** In-flight retries: a share of the in-flight calls, and a number that is always allowed, for upstreams with few calls. As in Envoy's retry budget. */
const [BUDGET_SHARE, BUDGET_FLOOR] = [0.2, 3];

/** Call that waits until a retry is allowed. */
export interface RetryingCall {
  /** Called once the retry is allowed. */
  resend(): void;
}

/**
 * Policy that retries temporary failures as `RetryRule` permits. Delays have full jitter, so that callers don't retry in unison. A budget for the
 * whole upstream limits retries in flight, so that they can't keep a service down.
 */
export class Retry {
  readonly #settings: RetrySettings;
  readonly #random: () => number;
  readonly #waiting = new Set<RetryingCall>();
  #calls = 0;
  #retries = 0;
  #isAllowing = false;

  /** @param random source of random numbers from 0 to 1, for the jitter */
  constructor(settings: RetrySettings, random: () => number = Math.random) {
    this.#settings = settings;
    this.#random = random;
  }

  /**
   * Returns the delay before the next attempt of a call, in milliseconds; undefined if it is not retried.
   *
   * @param isRepeatable whether the service can apply the call twice without harm
   * @param retries number of its retries so far
   * @param deadlineAt its deadline, on the clock of `performance.now()`
   */
  delayOf(error: UpstreamError, isRepeatable: boolean, retries: number, deadlineAt: number): number | undefined {
    const { retry, retryAfterSeconds = 0 } = error;
    const isPermitted = retry === 'always' || (retry === 'repeatable' && isRepeatable);
    if (!isPermitted || retries >= this.#settings.maxRetries || retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) {
      return undefined;
    }
    const jitter = this.#random() * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** retries);
    const delay = retryAfterSeconds * 1_000 + jitter;
    return performance.now() + delay < deadlineAt ? delay : undefined;
  }

  /** Returns the maximum time to wait for the budget, in milliseconds. */
  maxWaitMs(deadlineAt: number): number {
    return Math.min(MAX_DELAY_MS, deadlineAt - performance.now());
  }

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

  withdraw(call: RetryingCall): void {
    this.#waiting.delete(call);
  }

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
      if (this.#retries + 1 > Math.max(BUDGET_FLOOR, BUDGET_SHARE * this.#calls)) {
        break;
      }
      this.#waiting.delete(call);
      this.#retries += 1;
      call.resend();
    }
    this.#isAllowing = false;
  }
}
