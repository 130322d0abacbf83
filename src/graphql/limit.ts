/** Runs a function as soon as a slot is free, in the order of calls. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a limit of `max` functions at a time. */
export function createLimit(max: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Passes the slot to the function that has waited longest, if any. */
  function release(): void {
    const next = waiting.shift();
    if (next === undefined) {
      running -= 1;
    } else {
      next();
    }
  }

  return async (work) => {
    if (running < max) {
      running += 1;
    } else {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      release();
    }
  };
}
