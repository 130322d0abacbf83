// Defines the scalars for times, dates and JSON.

import { GraphQLError, type ValueNode, valueFromASTUntyped, visit } from 'graphql';
import { checkJson, MAX_JSON_DEPTH } from '../../graphql/json-values.ts';
import { isRecord } from '../../lib/is-record.ts';
import { defineModule } from '../module.ts';

/** RFC 3339 with the variants of ISO 8601 that services send: optional seconds with a fraction of any length, and an optional zone. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

export const scalars = defineModule('scalars', ({ builder }) => {
  builder.scalarType('DateTime', {
    description:
      'A point in time in ISO 8601, such as `2026-01-31T12:00:00.000Z`. It is the text that the service sent, so seconds or the UTC offset can be missing.',
    serialize: (value) =>
      check(value, isDateTime, 'DateTime cannot represent a value that is not an ISO 8601 timestamp.'),
    parseValue: (value) =>
      check(value, isDateTime, 'DateTime must be an ISO 8601 timestamp, such as "2026-01-31T12:00:00Z".'),
  });

  builder.scalarType('LocalDate', {
    description: 'A calendar date in the form YYYY-MM-DD, such as `2026-01-31`.',
    specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
    serialize: (value) => check(value, isLocalDate, 'LocalDate cannot represent a value that is not a calendar date.'),
    parseValue: (value) => check(value, isLocalDate, 'LocalDate must be a calendar date, such as "2026-01-31".'),
  });

  builder.scalarType('JSON', {
    description: `Any JSON value, nested at most ${MAX_JSON_DEPTH} levels deep. Send integers beyond 2^53 - 1 as strings.`,
    serialize: (value) => checkJson(value),
    parseValue: (value) => checkJson(value),
    parseLiteral: (node, variables) => checkJson(literalOf(node, variables)),
  });

  builder.scalarType('JSONObject', {
    description: 'A JSON object with any keys and values. The limits of `JSON` apply.',
    serialize: (value) =>
      check(checkJson(value), isRecord, 'JSONObject cannot represent a value that is not an object.'),
    parseValue: (value) => check(checkJson(value), isRecord, 'JSONObject must be an object.'),
    parseLiteral: (node, variables) =>
      check(checkJson(literalOf(node, variables)), isRecord, 'JSONObject must be an object.'),
  });
});

function check<T>(value: unknown, is: (value: unknown) => value is T, message: string): T {
  if (!is(value)) {
    throw new GraphQLError(message);
  }
  return value;
}

const isDateTime = (value: unknown): value is string =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));

/** Checks that a value is an existing date in the form YYYY-MM-DD. Most need no `Date`, which takes ten times as long. */
export function isLocalDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) {
    return false;
  }
  const month = Number(value.slice(5, 7));
  const day = Number(value.slice(8));
  return month >= 1 && month <= 12 && day >= 1 && (day <= 28 || new Date(value).getUTCDate() === day);
}

/** Converts a literal to JSON. Rejects enum values, which `valueFromASTUntyped` would convert to strings. */
function literalOf(literal: ValueNode, variables?: Record<string, unknown> | null): unknown {
  visit(literal, {
    IntValue(node) {
      if (!Number.isSafeInteger(Number(node.value))) {
        throw new GraphQLError(`JSON cannot represent ${node.value} exactly; send it as a string.`, { nodes: node });
      }
    },
    EnumValue(node) {
      throw new GraphQLError(`JSON has no enum values; write "${node.value}" in quotes.`, { nodes: node });
    },
  });
  return valueFromASTUntyped(literal, variables);
}
