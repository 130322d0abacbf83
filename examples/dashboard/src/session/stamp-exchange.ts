import { type Exchange, mapExchange } from 'urql';

/**
 * Records when data arrived, so that the app can say how old it is. It belongs between the cache and the network: the cache keeps the time
 * with the data.
 */
export const stampExchange: Exchange = mapExchange({
  onResult: (result) =>
    result.data && !result.error ? { ...result, extensions: { ...result.extensions, loadedAt: Date.now() } } : result,
});
