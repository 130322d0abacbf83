// Rejects JSON values that would change in transit.

import { GraphQLError } from 'graphql';
import { caught } from '../lib/caught.ts';
import { memoizeByObject } from '../lib/memoize.ts';

/** Maximum nesting of JSON values in requests and responses. Deeper values can be parsed but not written. */
export const MAX_JSON_DEPTH = 32;

/** Maximum members and items of one JSON value, at all levels, so that checking it doesn't block other requests. */
const MAX_JSON_NODES = 100_000;

/**
 * Returns a value unless it would change in transit: too deep, too large, inexact numbers, and `__proto__`, which sets prototypes when copied.
 *
 * @throws {GraphQLError} with the reason
 */
export function checkJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    countNodes(value, 0, 0);
    return value;
  }
  const error = findJsonError(value);
  if (error !== undefined) {
    throw error;
  }
  return value;
}

/** Returns the reason why a value is rejected. Cached, because one record is often selected under several names. */
export const findJsonError = memoizeByObject((value: object) => caught(GraphQLError, () => countNodes(value, 0, 0)));

/**
 * Adds to the number of members and items of a value.
 *
 * @throws {GraphQLError} if the value has too many
 */
function addNodes(count: number, more: number): number {
  if (count + more > MAX_JSON_NODES) {
    throw new GraphQLError(`JSON cannot represent more than ${MAX_JSON_NODES} members and items in one value.`);
  }
  return count + more;
}

/**
 * Checks a value and everything in it.
 *
 * @param count nodes counted before this value
 * @returns `count` plus the nodes in this value
 */
function countNodes(value: unknown, depth: number, count: number): number {
  if (
    typeof value === 'bigint' ||
    (typeof value === 'number' && (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)))
  ) {
    throw new GraphQLError('JSON cannot represent this number exactly; send it as a string.');
  }
  if (typeof value !== 'object' || value === null) {
    return count;
  }
  if (depth >= MAX_JSON_DEPTH) {
    throw new GraphQLError(`JSON cannot represent a value nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  if (Array.isArray(value)) {
    let total = addNodes(count, value.length);
    for (const item of value) {
      total = countNodes(item, depth + 1, total);
    }
    return total;
  }
  const members = value as Record<string, unknown>;
  const keys = Object.keys(members); // Takes half the time of `Object.entries`, which creates an array per member.
  let total = addNodes(count, keys.length);
  for (const key of keys) {
    if (key === '__proto__') {
      throw new GraphQLError('JSON cannot represent a key "__proto__".');
    }
    total = countNodes(members[key], depth + 1, total);
  }
  return total;
}
