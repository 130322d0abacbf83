// Caches results of functions.

import { LRUCache } from 'lru-cache';

/**
 * Returns a function that caches its results by the argument.
 *
 * @param max maximum cached results. The least recently used ones are dropped.
 * @param maxLength maximum length of an argument whose result is cached, for arguments that clients choose. @default unlimited
 */
export function memoize<T>(compute: (text: string) => T, max: number, maxLength = Number.POSITIVE_INFINITY) {
  // Wrapped, because undefined can be a result.
  const results = new LRUCache<string, { value: T }>({ max });
  return (text: string): T => {
    if (text.length > maxLength) {
      return compute(text);
    }
    let result = results.get(text);
    if (result === undefined) {
      result = { value: compute(text) };
      results.set(text, result);
    }
    return result.value;
  };
}

/** Returns a function that caches its results by the first argument, an object, for as long as that exists. */
export function memoizeByObject<Key extends object, Rest extends unknown[], T>(
  compute: (key: Key, ...rest: Rest) => T,
): (key: Key, ...rest: Rest) => T {
  const results = new WeakMap<Key, { value: T }>();
  return (key, ...rest) => {
    let result = results.get(key);
    if (result === undefined) {
      result = { value: compute(key, ...rest) };
      results.set(key, result);
    }
    return result.value;
  };
}
