// Records when data was current, so that the app can say how old it is.

import { type Exchange, mapExchange } from 'urql';

/**
 * Data was current when it arrived, or earlier if the service was down and the gateway's cache answered. The exchange belongs between the cache
 * and the network: the cache keeps the time with the data.
 */
export const stampExchange: Exchange = mapExchange({
  onResult: (result) =>
    result.data && !result.error
      ? { ...result, extensions: { ...result.extensions, loadedAt: Date.now() - readAgeMs(result.extensions) } }
      : result,
});

/** Returns the age of stale data, in milliseconds; 0 if none is stale. */
function readAgeMs({ cache }: { cache?: { ageSeconds?: number } } = {}): number {
  return (cache?.ageSeconds ?? 0) * 1_000;
}
