import type { Signal } from '../transport/signal.ts';

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
