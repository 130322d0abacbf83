// Counts requests per API key and category.

import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';

/** Requests per second of each API key, more than one process can answer. */
export const DEFAULT_RATE_LIMIT = 100_000;

/** Endpoints that the service counts apart. All others are `global`. */
const CATEGORIES: Readonly<Record<string, RegExp>> = {
  trigger: /^\/v1\/events\b/,
  configuration: /^\/v1\/(?:subscribers|topics)\b/,
};

/** Number of requests that one with several events counts as, or all that the key has. */
const BULK_COST = 100;

/** Returns the category of a path, whose requests the service counts together. */
export const categoryOf = (path: string): string =>
  Object.keys(CATEGORIES).find((name) => CATEGORIES[name]?.test(path)) ?? 'global';

/**
 * Creates the function that counts the requests of each API key and category in windows of one second. It returns the `RateLimit` headers of the
 * response, and throws 429 if the key has no requests of this category left in this second.
 *
 * @param limit requests per second, API key and category
 */
export function createRateLimit(limit: number, clock: () => Date) {
  const windows = new Map<string, { second: number; count: number }>();
  return ({ id }: Environment, path: string): Record<string, string> => {
    const category = categoryOf(path);
    const key = `${id} ${category}`;
    const second = Math.floor(clock().getTime() / 1000);
    const previous = windows.get(key);
    const cost = path.endsWith('/bulk') ? Math.min(BULK_COST, limit) : 1;
    const count = previous?.second === second ? previous.count + cost : cost;
    windows.set(key, { second, count });
    const headers = {
      'RateLimit-Limit': String(limit),
      'RateLimit-Remaining': String(Math.max(0, limit - count)),
      'RateLimit-Reset': '1',
      'RateLimit-Policy': `${limit};w=1;category="${category}"`,
    };
    if (count > limit) {
      const message = `Too many requests. This API key can send ${limit} per second. Try again in a second.`;
      throw new ApiError(429, message, { ...headers, 'Retry-After': '1' });
    }
    return headers;
  };
}
