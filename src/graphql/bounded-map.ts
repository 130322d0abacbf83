/** Works on one item, and calls `end` or `fail` once. Must not throw. */
type Work<Item, Result> = (item: Item, end: (result: Result) => void, fail: (error: unknown) => void) => void;

/** Resolves to the results, in the order of the items. Rejects once an item fails; the others are still worked on. */
type BoundedMap<Item, Result> = (items: readonly Item[], work: Work<Item, Result>) => Promise<Result[]>;

/** Creates a function that works on at most `max` items at a time, those of all its calls counted together. Its callbacks need no promises. */
export function createBoundedMap<Item, Result>(max: number): BoundedMap<Item, Result> {
  const waiting: (() => void)[] = [];
  let running = 0;

  function release(): void {
    running -= 1;
    waiting.shift()?.();
  }

  return (items, work) =>
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
