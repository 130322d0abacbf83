import type { Settings } from '../../settings/settings.ts';
import type { Endpoint } from '../errors/errors.ts';
import { endedEarly, overloaded } from '../errors/failures.ts';
import type { CallTrace } from '../transport/call-trace.ts';
import type { Signal } from '../transport/signal.ts';
import { rejectOnAbort } from './abortable.ts';
import { createPerCredential } from './per-credential.ts';

/** Settings of the concurrency limit. */
export type ConcurrencySettings = Pick<Settings, 'maxConcurrentCallsPerKey' | 'maxQueuedCallsPerKey'>;

/** Receiver of waits. */
type WaitTrace = Pick<CallTrace, 'queued' | 'dequeued'>;

/** Runs work as soon as its credential has a free slot, in order of arrival. */
export interface LimitConcurrency {
  <T>(credential: string, endpoint: Endpoint, signal: Signal, work: () => Promise<T>, trace?: WaitTrace): Promise<T>;
  /** Returns the number of queued calls, of all credentials. */
  waiting(): number;
}

interface Queue {
  running: number;
  waiting: Set<() => void>;
}

/** Limits the concurrent calls of each credential, so that a busy one can't take all sockets. */
export function limitConcurrency({
  maxConcurrentCallsPerKey,
  maxQueuedCallsPerKey,
}: ConcurrencySettings): LimitConcurrency {
  const queues = createPerCredential<Queue>(
    () => ({ running: 0, waiting: new Set() }),
    ({ running }) => running === 0,
  );
  let waiting = 0;

  /** Waits until another call hands over its slot. */
  async function waitForSlot(queue: Queue, endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> {
    if (queue.waiting.size >= maxQueuedCallsPerKey) {
      throw overloaded(endpoint);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.waiting.add(resolve);
    waiting += 1;
    const queuedAt = performance.now();
    trace?.queued(endpoint);
    try {
      await rejectOnAbort(promise, signal);
    } catch (reason) {
      if (!queue.waiting.delete(resolve)) {
        releaseSlot(queue); // The slot was handed over at the same moment.
      }
      throw endedEarly(endpoint, { sent: false }, reason);
    } finally {
      waiting -= 1;
      trace?.dequeued(endpoint, performance.now() - queuedAt);
    }
  }

  function releaseSlot(queue: Queue): void {
    if (queue.waiting.size === 0) {
      queue.running -= 1;
      return;
    }
    const [next] = queue.waiting;
    if (next !== undefined) {
      queue.waiting.delete(next);
      next();
    }
  }

  async function run<T>(
    credential: string,
    endpoint: Endpoint,
    signal: Signal,
    work: () => Promise<T>,
    trace?: WaitTrace,
  ): Promise<T> {
    const queue = queues.get(credential);
    if (queue.running < maxConcurrentCallsPerKey) {
      queue.running += 1;
    } else {
      await waitForSlot(queue, endpoint, signal, trace);
    }
    try {
      return await work();
    } finally {
      releaseSlot(queue);
    }
  }

  return Object.assign(run, { waiting: () => waiting });
}
