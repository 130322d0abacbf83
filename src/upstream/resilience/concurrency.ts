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

/** Limit on the concurrent calls of each credential. */
export interface ConcurrencyLimit {
  /** Returns the slots of a credential. */
  slotsOf(credential: string): CallSlots;
  /** Returns the number of queued calls, of all credentials. */
  waiting(): number;
}

/** Slots for the concurrent calls of one credential. */
export interface CallSlots {
  /**
   * Takes a slot.
   *
   * @returns undefined, or if all are taken, a promise that resolves when another call hands over its slot, in order of arrival. Rejects with
   * an `UpstreamError` if too many calls are waiting or the signal is aborted; then no slot was taken
   */
  take(endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> | undefined;
  /** Releases a slot that `take` took. */
  release(): void;
}

/** Limits the concurrent calls of each credential, so that a busy one can't take all sockets. */
export function limitConcurrency(settings: ConcurrencySettings): ConcurrencyLimit {
  let waiting = 0;
  const queued = (count: number) => {
    waiting += count;
  };
  const slots = createPerCredential<Slots>(
    () => new Slots(settings, queued),
    ({ isIdle }) => isIdle,
  );
  return { slotsOf: slots.get, waiting: () => waiting };
}

class Slots implements CallSlots {
  readonly #settings: ConcurrencySettings;
  readonly #queued: (count: number) => void;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** @param queued called with the change in the number of queued calls */
  constructor(settings: ConcurrencySettings, queued: (count: number) => void) {
    this.#settings = settings;
    this.#queued = queued;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  take(endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> | undefined {
    if (this.#running < this.#settings.maxConcurrentCallsPerKey) {
      this.#running += 1;
      return undefined;
    }
    return this.#wait(endpoint, signal, trace);
  }

  /** Waits until another call hands over its slot. */
  async #wait(endpoint: Endpoint, signal: Signal, trace?: WaitTrace): Promise<void> {
    if (this.#waiting.size >= this.#settings.maxQueuedCallsPerKey) {
      throw overloaded(endpoint);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    this.#queued(1);
    const queuedAt = performance.now();
    trace?.queued(endpoint);
    try {
      await rejectOnAbort(promise, signal);
    } catch (reason) {
      if (!this.#waiting.delete(resolve)) {
        this.release(); // The slot was handed over at the same moment.
      }
      throw endedEarly(endpoint, { sent: false }, reason);
    } finally {
      this.#queued(-1);
      trace?.dequeued(endpoint, performance.now() - queuedAt);
    }
  }

  release(): void {
    if (this.#waiting.size === 0) {
      this.#running -= 1;
      return;
    }
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next();
    }
  }
}
