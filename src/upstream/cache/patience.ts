import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import type { Signal } from '../signal.ts';

/** Time in which other reads don't wait after one has waited too long, in milliseconds. */
const SLOW_MS = 5_000;

/** Maximum endpoints that are known to be slow. A forgotten one costs one wait. */
const MAX_SLOW = 1_000;

/** Bounds the time in which reads that have a stored response wait for the service. */
export interface Patience {
  /**
   * Waits for a response. Returns undefined if the client disconnects, or if it takes too long. Then other reads of the same credential and endpoint
   * don't wait for 5 seconds, or until the service responds.
   *
   * @param route path template of the endpoint
   */
  wait<T>(route: string, response: Promise<T>, caller: Caller): Promise<T | undefined>;
}

/**
 * Creates the bound.
 *
 * @param maxWaitMs longest time to wait, in milliseconds
 */
export function createPatience(maxWaitMs: number): Patience {
  const slow = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_MS });
  return {
    async wait(route, response, { authorization, signal, deadlineAt }) {
      const endpoint = `${authorization} ${route}`;
      const isSlow = slow.has(endpoint);
      response.then(
        () => slow.delete(endpoint), // Even if it is late.
        () => {},
      );
      const maxMs = isSlow || signal.aborted ? 0 : Math.min(maxWaitMs, deadlineAt - performance.now());
      const result = await withinTime(response, maxMs, signal);
      if (result === undefined && !isSlow && !signal.aborted) {
        slow.set(endpoint, true);
      }
      return result;
    },
  };
}

/** Returns the result of a promise; undefined if it takes longer than the given time, or until the signal is aborted. */
async function withinTime<T>(promise: Promise<T>, milliseconds: number, signal: Signal): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const end = () => timeout.resolve(undefined);
  const timer = setTimeout(end, Math.max(0, milliseconds));
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
