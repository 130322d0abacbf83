import type { Settings } from '../../settings/settings.ts';
import type { Endpoint } from '../errors/errors.ts';
import { endedEarly, overloaded } from '../errors/failures.ts';
import type { Signal } from '../transport/signal.ts';
import { orAborted } from './abortable.ts';
import { createPerCredential } from './per-credential.ts';

/** Settings of the concurrency limit. */
export type ConcurrencySettings = Pick<Settings, 'maxConcurrentCallsPerKey' | 'maxQueuedCallsPerKey'>;

/** Runs work when it is its turn, in the order of arrival for each credential. */
export interface LimitConcurrency {
  <T>(credential: string, endpoint: Endpoint, signal: Signal, work: () => Promise<T>): Promise<T>;
  /** Calls that wait now, of all credentials. */
  waiting(): number;
}

interface Lane {
  running: number;
  waiting: Set<() => void>;
}

/** Gives every credential a lane of its own, so that a busy one cannot take the sockets of all others. */
export function limitConcurrency({
  maxConcurrentCallsPerKey,
  maxQueuedCallsPerKey,
}: ConcurrencySettings): LimitConcurrency {
  const lanes = createPerCredential<Lane>(
    () => ({ running: 0, waiting: new Set() }),
    ({ running }) => running === 0,
  );
  let waiting = 0;

  /** Waits for a place; it is handed over by whoever leaves. */
  async function waitInLane(lane: Lane, endpoint: Endpoint, signal: Signal): Promise<void> {
    if (lane.waiting.size >= maxQueuedCallsPerKey) {
      throw overloaded(endpoint);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.waiting.add(resolve);
    waiting += 1;
    try {
      await orAborted(promise, signal);
    } catch (reason) {
      if (!lane.waiting.delete(resolve)) {
        leave(lane); // The place was handed over in the same moment.
      }
      throw endedEarly(endpoint, { sent: false }, reason);
    } finally {
      waiting -= 1;
    }
  }

  function leave(lane: Lane): void {
    if (lane.waiting.size === 0) {
      lane.running -= 1;
      return;
    }
    const [next] = lane.waiting;
    if (next !== undefined) {
      lane.waiting.delete(next);
      next();
    }
  }

  async function run<T>(credential: string, endpoint: Endpoint, signal: Signal, work: () => Promise<T>): Promise<T> {
    const lane = lanes.of(credential);
    if (lane.running < maxConcurrentCallsPerKey) {
      lane.running += 1;
    } else {
      await waitInLane(lane, endpoint, signal);
    }
    try {
      return await work();
    } finally {
      leave(lane);
    }
  }

  return Object.assign(run, { waiting: () => waiting });
}
