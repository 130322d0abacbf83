import { createPerCredential } from '../../lib/per-credential.ts';
import type { Settings } from '../../settings/settings.ts';
import { type Endpoint, endedEarly, overloaded } from '../errors.ts';
import { rejectOnAbort, type Signal } from '../signal.ts';
import type { CallTrace } from '../transport/call-trace.ts';

/** Settings of the concurrency limit. */
export type ConcurrencySettings = Pick<Settings, 'maxConcurrentCallsPerKey' | 'maxQueuedCallsPerKey'>;

/** Receiver of waits. */
type WaitTrace = Pick<CallTrace, 'queued' | 'dequeued'>;

/** Limit on the concurrent calls of each credential. */
export interface ConcurrencyLimit {
  /**
   * Takes a slot of a credential.
   *
   * @returns undefined, or if all are taken, a promise that resolves when another call hands over its slot, in order of arrival. Rejects with
   * an `UpstreamError` if too many calls are waiting or the signal is aborted; then no slot was taken
   */
  take(credential: string, endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> | undefined;
  /** Releases a slot that `take` took. */
  release(credential: string): void;
  /** Returns the number of queued calls, of all credentials. */
  waiting(): number;
}

/** Slots of one credential. */
interface Slots {
  running: number;
  /** Functions that hand a slot over to a call, in order of arrival. */
  waiting: Set<() => void>;
}

/** Limits the concurrent calls of each credential, so that a busy one can't take all sockets. */
export function limitConcurrency({
  maxConcurrentCallsPerKey,
  maxQueuedCallsPerKey,
}: ConcurrencySettings): ConcurrencyLimit {
  const inUse = createPerCredential<Slots>(() => ({ running: 0, waiting: new Set() }));
  let waiting = 0;

  /** Waits until another call hands over its slot. */
  async function wait(slots: Slots, endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> {
    if (slots.waiting.size >= maxQueuedCallsPerKey) {
      throw overloaded(endpoint);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    slots.waiting.add(resolve);
    waiting += 1;
    const queuedAt = performance.now();
    trace?.queued(endpoint);
    try {
      await rejectOnAbort(promise, signal);
    } catch (reason) {
      if (!slots.waiting.delete(resolve)) {
        handOver(slots); // The slot was handed over at the same moment.
      }
      throw endedEarly(endpoint, { sent: false }, reason);
    } finally {
      waiting -= 1;
      trace?.dequeued(endpoint, performance.now() - queuedAt);
    }
  }

  function handOver(slots: Slots): void {
    const [next] = slots.waiting;
    if (next === undefined) {
      slots.running -= 1;
    } else {
      slots.waiting.delete(next);
      next();
    }
  }

  return {
    take(credential, endpoint, signal, trace) {
      const slots = inUse.enter(credential);
      if (slots.running < maxConcurrentCallsPerKey) {
        slots.running += 1;
        return undefined;
      }
      return wait(slots, endpoint, signal, trace).catch((failure: unknown) => {
        inUse.leave(credential);
        throw failure;
      });
    },
    release: (credential) => handOver(inUse.leave(credential)),
    waiting: () => waiting,
  };
}
