import type { Signal } from '../transport/signal.ts';

export interface RetryBudgetOptions {
  /** Retries on their way at any time, as a share of the calls on their way. */
  share: number;
  /** Retries that are always allowed on their way. */
  floor: number;
}

/** Bounds the retries that are on their way to an upstream, so that they cannot keep a service down. */
export interface RetryBudget {
  startCall(): void;
  endCall(): void;
  /**
   * Takes a place for a retry, in the order of asking.
   *
   * @param patienceMs how long to wait for one
   * @returns whether there was one; false too when the signal is aborted meanwhile
   */
  startRetry(patienceMs: number, signal: Signal): Promise<boolean>;
  endRetry(): void;
}

export function createRetryBudget({ share, floor }: RetryBudgetOptions): RetryBudget {
  const waiting = new Set<() => void>();
  let calls = 0;
  let retries = 0;

  const hasPlace = () => retries + 1 <= Math.max(floor, share * calls);

  function handOut(): void {
    for (const take of waiting) {
      if (!hasPlace()) {
        return;
      }
      waiting.delete(take);
      retries += 1;
      take();
    }
  }

  return {
    startCall() {
      calls += 1;
      handOut();
    },
    endCall() {
      calls -= 1;
    },
    async startRetry(patienceMs, signal) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const take = () => resolve(true);
      const giveUp = () => {
        waiting.delete(take);
        resolve(false); // Does nothing where the place was handed out in the same moment.
      };
      const timer = setTimeout(giveUp, patienceMs);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(take);
      handOut();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      }
    },
    endRetry() {
      retries -= 1;
      handOut();
    },
  };
}
