/** Lifetime below which a worker most likely ended for the same reason as the one before. */
const SHORT_LIFE_MS = 10_000;

/** Short-lived workers in a row that are replaced immediately. */
const MAX_SHORT_LIVES = 5;

const BASE_MS = 100;
const MAX_MS = 5_000;

/** Computes the delay before an ended worker is replaced, so that workers that end at startup don't use up the machine. */
export function createRestartBackoff() {
  let shortLives = 0;
  return {
    /** Returns the delay in milliseconds after a worker that lived this long. */
    delayAfter(livedMs: number): number {
      shortLives = livedMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
      return shortLives > MAX_SHORT_LIVES ? Math.min(BASE_MS * 2 ** (shortLives - MAX_SHORT_LIVES - 1), MAX_MS) : 0;
    },
  };
}
