/** Runs work when fewer than `max` others run, in the order of asking. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimit(max: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Hands the place to the one that waits longest. */
  function leave(): void {
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
      leave();
    }
  };
}
