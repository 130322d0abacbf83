// Helpers for what takes time: promises, conditions such as that no request is in flight, and pauses.

/** Checks whether a value is a promise or another thenable. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    return false;
  }
  const { then }: { then?: unknown } = value;
  return typeof then === 'function';
}

/** Returns a promise whose rejection doesn't end the process if nothing handles it. */
export function ignoreRejection<Kind extends Promise<unknown>>(promise: Kind): Kind {
  promise.catch(ignore);
  return promise;
}

const ignore = (): void => {};

export function createCondition(holds: () => boolean) {
  const waiting: (() => void)[] = [];
  return {
    /** Resolves once the condition holds; immediately if it already does. */
    async met(): Promise<void> {
      if (!holds()) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    /** Resolves all waits if the condition holds. Call it after each change that can make it hold. */
    check(): void {
      if (waiting.length > 0 && holds()) {
        for (const resolve of waiting.splice(0)) {
          resolve();
        }
      }
    },
  };
}

/**
 * Creates a function that works on at most `max` items at a time, those of all its calls counted together. It resolves to the results, in the order
 * of the items, or rejects once an item fails; the others are still worked on.
 */
export function createBoundedMap<Item, Result>(max: number) {
  const waiting: (() => void)[] = [];
  let running = 0;

  function release(): void {
    running -= 1;
    waiting.shift()?.();
  }

  /** @param work calls `end` or `fail` once, so that items need no promises. It must not throw */
  return (
    items: readonly Item[],
    work: (item: Item, end: (result: Result) => void, fail: (error: unknown) => void) => void,
  ): Promise<Result[]> =>
    new Promise((resolve, reject) => {
      const results: Result[] = [];
      let remaining = items.length;
      if (remaining === 0) {
        resolve(results);
      }
      for (const [index, item] of items.entries()) {
        const end = (result: Result): void => {
          results[index] = result;
          remaining -= 1;
          if (remaining === 0) {
            resolve(results);
          }
          release();
        };
        const fail = (error: unknown): void => {
          reject(error);
          release();
        };
        const start = (): void => {
          running += 1;
          work(item, end, fail);
        };
        if (running < max) {
          start();
        } else {
          waiting.push(start);
        }
      }
    });
}

/** Blocks the thread for a time, in milliseconds. Only for writes that must not be left to a later turn of the event loop. */
export function pauseSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
