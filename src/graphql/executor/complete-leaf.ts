import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
  isSpecifiedScalarType,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import type { Complete } from './complete.ts';
import type { Execution } from './execution.ts';
import { excerpt, markInvalidValue } from './located-error.ts';

/** Deeper than any JSON the scalars accept; a guard against objects that contain themselves. */
const MAX_DEPTH = 64;

/** JSON that takes as long to look at as an average value takes to complete. */
const BYTES_PER_VALUE = 50;

/** Values that take as long to complete as a large object takes to quote. */
const VALUES_PER_QUOTE = 2_000;

/** Creates the completion of scalars and enums of one type, which adds their size to the result's. */
export const createLeafCompletion =
  (type: GraphQLLeafType): Complete =>
  (execution, _plan, _info, _path, value) =>
    completeLeaf(execution, type, value);

function completeLeaf(execution: Execution, type: GraphQLLeafType, value: unknown): unknown {
  const serialized = serialize(execution, type, value);
  const bytes = sizeOf(serialized, execution.limits.maxResponseBytes - execution.bytes, 0);
  if (typeof serialized === 'object') {
    execution.spend(bytes / BYTES_PER_VALUE);
  }
  execution.addBytes(bytes);
  return serialized;
}

/** Skips `serialize` of GraphQL's own scalars for values that it returns unchanged, which are nearly all: saves 30 ns each. */
function serialize(execution: Execution, type: GraphQLLeafType, value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      if (type === GraphQLString || type === GraphQLID) {
        return value;
      }
      break;
    case 'boolean':
      if (type === GraphQLBoolean) {
        return value;
      }
      break;
    case 'number':
      if ((type === GraphQLInt && (value | 0) === value) || (type === GraphQLFloat && Number.isFinite(value))) {
        return value;
      }
      break;
    default:
  }
  const isQuoted = isRefused(type, value);
  if (isQuoted) {
    execution.spend(VALUES_PER_QUOTE);
  }
  const serialized = serializeChecked(type, isQuoted ? excerpt(value) : value);
  if (serialized == null) {
    throw new Error(
      `Expected \`${inspect(type)}.serialize(${inspect(value)})\` to return non-nullable value, returned: ${inspect(serialized)}`,
    );
  }
  return serialized;
}

/** Calls `serialize`. GraphQL.js and our scalars reject values with a GraphQLError; any other error is a bug of the scalar. */
function serializeChecked(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.serialize(value);
  } catch (error) {
    throw error instanceof GraphQLError ? markInvalidValue(error) : error;
  }
}

/** Whether a scalar of GraphQL refuses the value with a message that quotes it, which takes long for a large value. */
function isRefused(type: GraphQLLeafType, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && type === GraphQLBoolean;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return isSpecifiedScalarType(type) && (prototype === Object.prototype || Array.isArray(value));
}

/** Estimates the size as JSON. Stops once it is above `limit`. Escapes and non-ASCII characters are counted as one byte. */
function sizeOf(value: unknown, limit: number, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'number':
      return sizeOfNumber(value);
    case 'object':
      return value === null || depth === MAX_DEPTH ? 4 : sizeOfObject(value, limit, depth);
    default:
      return 5;
  }
}

function sizeOfNumber(value: number): number {
  if ((value | 0) !== value) {
    return 18;
  }
  return value > -10 && value < 100 ? 2 : value > -1_000_000 && value < 10_000_000 ? 7 : 11;
}

function sizeOfObject(value: object, limit: number, depth: number): number {
  let bytes = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && bytes <= limit; index += 1) {
      bytes += sizeOf(value[index], limit - bytes, depth + 1) + 1;
    }
    return bytes;
  }
  for (const key in value) {
    if (Object.hasOwn(value, key)) {
      bytes += key.length + 4 + sizeOf(Reflect.get(value, key), limit - bytes, depth + 1);
    }
    if (bytes > limit) {
      break;
    }
  }
  return bytes;
}
