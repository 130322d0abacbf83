/** A worker that ends sooner has most likely ended by what the one before it ended by. */
const SOON_MS = 10_000;

/** So many in a row are replaced at once. */
const MAX_SOON = 5;

const BASE_MS = 100;
const MAX_MS = 5_000;

/** How long an ended worker is missing before it is replaced: those that end as soon as they start must not occupy the machine. */
export function createRestartBackoff() {
  let soon = 0;
  return {
    /** @param livedMs how long the worker lived that has ended */
    delayAfter(livedMs: number): number {
      soon = livedMs < SOON_MS ? soon + 1 : 0;
      return soon > MAX_SOON ? Math.min(BASE_MS * 2 ** (soon - MAX_SOON - 1), MAX_MS) : 0;
    },
  };
}
