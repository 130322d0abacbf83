import { createCondition } from '../lib/condition.ts';
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
  const idle = createCondition(() => running === 0);
  return {
    async handle(request) {
      running += 1;
      try {
        return await inner(request);
      } finally {
        running -= 1;
        idle.check();
      }
    },
    finished: idle.met,
  };
}
