import { setImmediate } from 'node:timers/promises';
import { createRandom } from './choices.ts';

const MAX_IDLE_TURNS = 10_000;

/**
 * Settles promises one at a time, in an order that depends only on their labels. Two executors that ask for the same promises then see the
 * same order of events, however many microtasks each takes in between.
 */
export class VirtualTime {
  readonly #seed: number;
  readonly #waiting = new Map<string, () => void>();
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Returns a thenable that settles some time after it is asked, for each that asks at another time: of two errors in one turn below the same
   * null, graphql-js may report both, since it needs some microtasks to make it null.
   */
  later(label: string, settle: () => unknown): PromiseLike<unknown> {
    const settleOnce = once(settle);
    const ask = () =>
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
    // biome-ignore lint/suspicious/noThenProperty: a thenable starts when it is first asked, which a promise cannot.
    return { then: (onFulfilled, onRejected) => ask().then(onFulfilled, onRejected) };
  }

  /** Settles everything that is waiting and what that leads to, until the result is there and nothing waits. */
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

/** Returns a function that does the work the first time and then returns or throws the same again. */
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
