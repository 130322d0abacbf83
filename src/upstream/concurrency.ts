import type { Endpoint } from './errors.ts';
import { notSentInTime, overloaded } from './failures.ts';
import { orAborted } from './time-limit.ts';

export interface ConcurrencyOptions {
  /** Calls of one credential on their way at a time. @default 10 */
  maxRunning?: number;
  /** Calls of one credential that wait for their turn; one more is OVERLOADED. @default 100 */
  maxWaiting?: number;
}

/** Runs work when it is its turn, in the order of arrival for each credential. */
export type LimitConcurrency = <T>(
  credential: string,
  endpoint: Endpoint,
  signal: AbortSignal,
  work: () => Promise<T>,
) => Promise<T>;

interface Lane {
  running: number;
  waiting: Set<() => void>;
}

/** Gives every credential a lane of its own, so that a busy one cannot take the sockets of all others. */
export function limitConcurrency({ maxRunning = 10, maxWaiting = 100 }: ConcurrencyOptions = {}): LimitConcurrency {
  const lanes = new Map<string, Lane>();

  /** Waits for a place; the place is handed over by whoever leaves. */
  async function enter(credential: string, lane: Lane, endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    if (lane.running < maxRunning) {
      lane.running += 1;
      return;
    }
    if (lane.waiting.size >= maxWaiting) {
      throw overloaded(endpoint);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } catch (reason) {
      if (!lane.waiting.delete(resolve)) {
        leave(credential, lane); // The place was handed over in the same moment.
      }
      throw notSentInTime(endpoint, reason);
    }
  }

  function leave(credential: string, lane: Lane): void {
    const [next] = lane.waiting;
    if (next !== undefined) {
      lane.waiting.delete(next);
      next();
      return;
    }
    lane.running -= 1;
    if (lane.running === 0) {
      lanes.delete(credential);
    }
  }

  return async (credential, endpoint, signal, work) => {
    const lane = lanes.get(credential) ?? { running: 0, waiting: new Set() };
    lanes.set(credential, lane);
    await enter(credential, lane, endpoint, signal);
    try {
      return await work();
    } finally {
      leave(credential, lane);
    }
  };
}
