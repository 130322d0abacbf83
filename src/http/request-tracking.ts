import type { HandleRequest } from './request.ts';

/** Handler whose requests are counted. */
export interface TrackedRequests {
  handle: HandleRequest;
  /** Waits until all requests have ended. */
  finished(): Promise<void>;
}

/** Counts the in-flight requests of a handler, so that what they use is closed after them. */
export function trackRequests(inner: HandleRequest): TrackedRequests {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async handle(request) {
      running += 1;
      try {
        return await inner(request);
      } finally {
        running -= 1;
        if (running === 0) {
          for (const resolve of waiting.splice(0)) {
            resolve();
          }
        }
      }
    },
    async finished() {
      if (running > 0) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
