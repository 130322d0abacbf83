import { GraphQLError, type ValueNode, valueFromASTUntyped, visit } from 'graphql';
import { isRecord } from '../lib/is-record.ts';
import { builder } from './builder.ts';

/** JSON is nested no deeper than this, both ways: deeper values parse but cannot be written again. */
const MAX_JSON_DEPTH = 32;

/** Members and items of one JSON value, at all levels together: looking at them must not hold up other requests. */
const MAX_JSON_NODES = 100_000;

/** RFC 3339 with the freedom of ISO 8601 that services use: seconds' fraction of any length, zone as Z or an offset. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

builder.scalarType('DateTime', {
  description: 'An ISO-8601 timestamp.',
  serialize: (value) => check(value, isDateTime, 'DateTime cannot represent a value that is no ISO-8601 timestamp.'),
  parseValue: (value) =>
    check(value, isDateTime, 'DateTime takes an ISO-8601 timestamp, such as "2026-01-31T12:00:00Z".'),
});

builder.scalarType('LocalDate', {
  description: 'A calendar day, YYYY-MM-DD, without a zone.',
  serialize: (value) => check(value, isLocalDate, 'LocalDate cannot represent a value that is no calendar day.'),
  parseValue: (value) => check(value, isLocalDate, 'LocalDate takes a calendar day, such as "2026-01-31".'),
});

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => checkJson(value),
  parseValue: (value) => checkJson(value),
  parseLiteral: (node, variables) => checkJson(literalOf(node, variables)),
});

builder.scalarType('JSONObject', {
  description: 'A JSON object: free-form key/value pairs.',
  serialize: (value) => check(checkJson(value), isRecord, 'JSONObject cannot represent a value that is no object.'),
  parseValue: (value) => check(checkJson(value), isRecord, 'JSONObject takes an object.'),
  parseLiteral: (node, variables) =>
    check(checkJson(literalOf(node, variables)), isRecord, 'JSONObject takes an object.'),
});

function check<T>(value: unknown, is: (value: unknown) => value is T, message: string): T {
  if (!is(value)) {
    throw new GraphQLError(message);
  }
  return value;
}

const isDateTime = (value: unknown): value is string =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));

/** A real day of the calendar, not only its shape; reckoned, for making a `Date` and its text takes ten times as long. */
export function isLocalDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) {
    return false;
  }
  const month = Number(value.slice(5, 7));
  const day = Number(value.slice(8));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(Number(value.slice(0, 4)), month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) {
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return isLeap ? 29 : 28;
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Refuses what would not arrive as it was sent: too deep, too large, `__proto__` (it changes prototypes when copied), no exact number. */
function checkJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    countNodes(value, 0, 0);
    return value;
  }
  const known = verdicts.get(value);
  if (known instanceof GraphQLError) {
    throw known;
  }
  if (known === undefined) {
    verdicts.set(value, judge(value));
    return checkJson(value);
  }
  return value;
}

/** Verdicts on values that were checked: one record is often selected under several names. */
const verdicts = new WeakMap<object, GraphQLError | 'fine'>();

function judge(value: object): GraphQLError | 'fine' {
  try {
    countNodes(value, 0, 0);
    return 'fine';
  } catch (error) {
    if (error instanceof GraphQLError) {
      return error;
    }
    throw error;
  }
}

/** @throws {GraphQLError} when there are more than one value may have */
function addNodes(count: number, more: number): number {
  if (count + more > MAX_JSON_NODES) {
    throw new GraphQLError(`JSON cannot represent more than ${MAX_JSON_NODES} members and items in one value.`);
  }
  return count + more;
}

/**
 * Checks a value with all that is in it.
 *
 * @param count nodes seen before it
 * @returns with those in it
 */
function countNodes(value: unknown, depth: number, count: number): number {
  if (
    typeof value === 'bigint' ||
    (typeof value === 'number' && (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)))
  ) {
    throw new GraphQLError('JSON cannot represent a number that would not arrive as it was sent; send it as a string.');
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
  const keys = Object.keys(members); // Half the time of `Object.entries`, which makes an array for each member.
  let total = addNodes(count, keys.length);
  for (const key of keys) {
    if (key === '__proto__') {
      throw new GraphQLError('JSON cannot represent a key "__proto__".');
    }
    total = countNodes(members[key], depth + 1, total);
  }
  return total;
}

/** A literal as JSON. `valueFromASTUntyped` alone would take an enum name for a string. */
function literalOf(literal: ValueNode, variables?: Record<string, unknown> | null): unknown {
  visit(literal, {
    IntValue(node) {
      if (!Number.isSafeInteger(Number(node.value))) {
        throw new GraphQLError(`JSON cannot represent ${node.value} exactly; send it as a string.`, { nodes: node });
      }
    },
    EnumValue(node) {
      throw new GraphQLError(`JSON has no enum values: write "${node.value}" in quotes.`, { nodes: node });
    },
  });
  return valueFromASTUntyped(literal, variables);
}
