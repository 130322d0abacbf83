import { LRUCache } from 'lru-cache';

/**
 * Returns a function that keeps its results by their text.
 *
 * @param max number of results that are kept, because texts from outside may all differ
 */
export function memoize<T>(make: (text: string) => T, max: number): (text: string) => T {
  const results = new LRUCache<string, { value: T }>({ max }); // Wrapped: undefined is a result, too.
  return (text) => {
    let result = results.get(text);
    if (result === undefined) {
      result = { value: make(text) };
      results.set(text, result);
    }
    return result.value;
  };
}

/**
 * Returns a function that keeps its result as long as its source is the same object.
 *
 * @param read returns the present source
 */
export function memoizeBySource<Source, T>(read: () => Source, make: (source: Source) => T): () => T {
  let latest: { source: Source; value: T } | undefined;
  return () => {
    const source = read();
    if (latest === undefined || latest.source !== source) {
      latest = { source, value: make(source) };
    }
    return latest.value;
  };
}
