import type { UpstreamRateLimit } from '../../upstream/errors.ts';
import type { Signal } from '../../upstream/signal.ts';

/** Options of the pace. */
export interface PaceOptions {
  /** Maximum calls per second. @default unlimited */
  rate: number | undefined;
  /** Longest pause for a rate limit, in milliseconds. */
  maxWaitMs: number;
}

/** Times of the calls: at most so many per second, and none while the service's rate limit is used up. */
export class Pace {
  readonly #intervalMs: number;
  readonly #maxWaitMs: number;
  readonly #stopping: Signal;
  #nextAt = 0;
  #pausedUntil = 0;

  constructor({ rate, maxWaitMs }: PaceOptions, stopping: Signal) {
    this.#intervalMs = rate === undefined ? 0 : 1_000 / rate;
    this.#maxWaitMs = maxWaitMs;
    this.#stopping = stopping;
  }

  /** Waits until a call may be sent. Ends early when the import is stopping. */
  async turn(): Promise<void> {
    while (!this.#stopping.aborted) {
      const now = performance.now();
      if (this.#pausedUntil > now) {
        await this.wait(this.#pausedUntil - now);
        continue;
      }
      const at = Math.max(now, this.#nextAt);
      this.#nextAt = at + this.#intervalMs;
      return at > now ? this.wait(at - now) : undefined;
    }
  }

  /** Waits, until the import is stopping at the latest. */
  async wait(milliseconds: number): Promise<void> {
    if (this.#stopping.aborted) {
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#stopping.addEventListener('abort', resolve, { once: true });
    await promise;
    clearTimeout(timer);
    this.#stopping.removeEventListener('abort', resolve);
  }

  /**
   * Pauses calls if those in flight use up what the service still permits. A pause that is too long begins with the service's rejection.
   *
   * @returns the duration of the pause, in milliseconds; 0 for none
   */
  note(rateLimit: UpstreamRateLimit | undefined, inFlight: number): number {
    const pauseMs = (rateLimit?.resetSeconds ?? 0) * 1_000;
    if (rateLimit === undefined || rateLimit.remaining >= inFlight || pauseMs > this.#maxWaitMs) {
      return 0;
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + pauseMs);
    return pauseMs;
  }
}
