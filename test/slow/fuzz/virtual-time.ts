// Settles promises one at a time, in an order that depends only on their labels.

import { setImmediate } from 'node:timers/promises';
import { createRandom } from '../../support/choices.ts';

const MAX_IDLE_TURNS = 10_000;

/** Two executors that wait for the same promises see the same order of events, regardless of how many microtasks each of them needs. */
export class VirtualTime {
  readonly #seed: number;
  readonly #waiting = new Map<string, () => void>();
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Returns a thenable that settles separately for each subscriber. If two errors below the same nullable field were thrown in one turn,
   * graphql-js could report both, because it needs some microtasks to set the field to null.
   */
  later(label: string, settle: () => unknown): PromiseLike<unknown> {
    const settleOnce = once(settle);
    const subscribe = () =>
      new Promise((resolve, reject) => {
        this.#count += 1;
        const priority = createRandom(this.#seed, label).pick(1_000_000);
        this.#waiting.set(`${pad(priority)} ${label} ${pad(this.#count)}`, () => {
          try {
            resolve(settleOnce());
          } catch (error) {
            reject(error);
          }
        });
      });
    // biome-ignore lint/suspicious/noThenProperty: unlike a promise, a thenable can start when it is subscribed to.
    return { then: (onFulfilled, onRejected) => subscribe().then(onFulfilled, onRejected) };
  }

  /** Settles waiting promises until the result is available and no promise waits. */
  async run<T>(pending: T | Promise<T>): Promise<T> {
    let isDone = false;
    const result = Promise.resolve(pending).finally(() => {
      isDone = true;
    });
    for (let idle = 0; idle < MAX_IDLE_TURNS; idle += 1) {
      await setImmediate();
      const [first] = [...this.#waiting.keys()].sort();
      if (first !== undefined) {
        idle = 0;
        this.#waiting.get(first)?.();
        this.#waiting.delete(first);
      } else if (isDone) {
        return result;
      }
    }
    throw new Error('The result never settles.');
  }
}

const pad = (number: number): string => number.toString().padStart(6, '0');

/** Returns a function that runs the work once and then repeats its result or error. */
function once(work: () => unknown): () => unknown {
  let outcome: { value: unknown } | { error: unknown } | undefined;
  const attempt = () => {
    try {
      return { value: work() };
    } catch (error) {
      return { error };
    }
  };
  return () => {
    outcome ??= attempt();
    if ('error' in outcome) {
      throw outcome.error;
    }
    return outcome.value;
  };
}
