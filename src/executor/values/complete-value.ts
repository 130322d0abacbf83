// Converts the results of resolvers to values of the response: lists, scalars and enums.

import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
  GraphQLString,
  isSpecifiedScalarType,
  type ResponsePath,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { excerpt, isGraphQLError, markInvalidValue } from '../../errors/located-error.ts';
import { ignoreRejection, isPromise } from '../../lib/promises.ts';
import type { Execution } from '../execution/execution.ts';
import { listError, STOPPED } from '../execution/result-limits.ts';
import type { Complete, ValuePlan } from '../selections.ts';
import { INEXACT_ID, isInexactId } from './coerce-variables.ts';
import { awaitValue, Pending, PendingList } from './pending.ts';

/** Completes the result of a resolver or an item of a list: a value or a promise. */
export const completeResolved: Complete = (execution, plan, info, path, value) =>
  isPromise(value)
    ? awaitValue(execution, value, plan, info, path, completeValue)
    : completeValue(execution, plan, info, path, value);

const completeValue: Complete = (execution, plan, info, path, value) => {
  if (value instanceof Error) {
    throw value;
  }
  if (value == null) {
    if (plan.isNonNull) {
      const field = `${info.parentType.name}.${info.fieldName}`;
      throw markInvalidValue(new Error(`Cannot return null for non-nullable field ${field}.`));
    }
    execution.addBytes(4);
    return null;
  }
  return plan.complete(execution, plan, info, path, value);
};

export const createListCompletion =
  (item: ValuePlan): Complete =>
  (execution, plan, info, path, value) => {
    const items = toItems(execution, value, info);
    const list = new PendingList(execution, plan, path, []);
    try {
      // Counted before the first item, so that a list that exceeds a limit is null as a whole.
      execution.countValues(items.length, items.length + 2);
      completeItems(list, item, info, path, items, 0);
    } catch (error) {
      list.isSettled = true;
      ignoreRejections(items);
      throw error;
    }
    return list.isPending ? list : list.result;
  };

/** Completes the items from `start` on. Yields to the event loop when enough values were completed in this turn. */
function completeItems(
  list: PendingList,
  plan: ValuePlan,
  info: GraphQLResolveInfo,
  path: ResponsePath,
  items: readonly unknown[],
  start: number,
): void {
  const { execution, result } = list;
  for (let index = start; index < items.length; index += 1) {
    if (index > start && execution.shouldYield) {
      list.hold();
      ignoreRejections(items); // They are not awaited until a later turn.
      execution.runLater(() => {
        try {
          completeItems(list, plan, info, path, items, index);
        } catch (error) {
          list.fail(error);
        }
        list.release();
      });
      return;
    }
    if (execution.isStopped) {
      throw execution.endError ?? STOPPED;
    }
    const value = completeItem(execution, plan, info, path, index, items[index]);
    if (value instanceof Pending) {
      list.add(value, index);
      result.push(undefined);
    } else {
      result.push(value);
    }
  }
}

function completeItem(
  execution: Execution,
  plan: ValuePlan,
  info: GraphQLResolveInfo,
  listPath: ResponsePath,
  index: number,
  value: unknown,
): unknown {
  let path: ResponsePath | undefined;
  try {
    if (plan.leafType !== undefined && isPrimitive(value)) {
      return completeLeaf(execution, plan.leafType, value); // Without a path.
    }
    path = pathOf(listPath, index);
    return completeResolved(execution, plan, info, path, value);
  } catch (error) {
    return execution.handleError(error, plan, path ?? pathOf(listPath, index));
  }
}

const pathOf = (listPath: ResponsePath, index: number): ResponsePath => ({
  prev: listPath,
  key: index,
  typename: undefined,
});

/** Returns the items of a list or other iterable. Throws if it has too many. */
function toItems(execution: Execution, value: unknown, info: GraphQLResolveInfo): readonly unknown[] {
  const maxItems = execution.limits.maxListItems;
  if (Array.isArray(value)) {
    if (value.length > maxItems) {
      if (execution.isFirstVisit(value)) {
        ignoreRejections(value); // Only once: many aliases can select the same list of a million items.
      }
      throw listError(value.length, maxItems);
    }
    return value;
  }
  if (!isIterable(value)) {
    const field = `"${info.parentType.name}.${info.fieldName}"`;
    throw markInvalidValue(new GraphQLError(`Expected Iterable, but did not find one for field ${field}.`));
  }
  const items: unknown[] = [];
  for (const item of value) {
    if (items.length === maxItems) {
      throw listError(`more than ${maxItems}`, maxItems);
    }
    items.push(item);
  }
  return items;
}

/** Prevents rejections of items that are not awaited from ending the process. */
function ignoreRejections(items: readonly unknown[]): void {
  for (const item of items) {
    if (item instanceof Promise) {
      ignoreRejection(item);
    }
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, Symbol.iterator) === 'function';

/** Maximum depth of what scalars return, deeper than any JSON that those of the gateway accept. */
const MAX_DEPTH = 64;

/** Bytes of JSON that take as long to check as an average value takes to complete. */
const BYTES_PER_VALUE = 50;

/** Number of values that take as long to complete as quoting a large object takes. */
const VALUES_PER_QUOTE = 2_000;

/** Creates the completion function of a scalar or enum type, which adds the size of values to the result's size. */
export const createLeafCompletion =
  (type: GraphQLLeafType): Complete =>
  (execution, _plan, _info, _path, value) =>
    completeLeaf(execution, type, value);

/** Checks whether a value is a string, number or boolean, which is complete without an error in most cases. */
export const isPrimitive = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

export function completeLeaf(execution: Execution, type: GraphQLLeafType, value: unknown): unknown {
  const serialized = serialize(execution, type, value);
  const bytes = sizeOf(serialized, execution.limits.maxResponseBytes - execution.bytes, 0);
  if (typeof serialized === 'object') {
    execution.countWork(bytes / BYTES_PER_VALUE);
  }
  execution.addBytes(bytes);
  return serialized;
}

/** Serializes a value. Skips `serialize` of GraphQL's own scalars if it would return the value unchanged, which saves 30 ns per value. */
function serialize(execution: Execution, type: GraphQLLeafType, value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      if (type === GraphQLString || type.name === 'ID') {
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
      if (Number.isFinite(value) && isInexactId(type, value)) {
        throw markInvalidValue(new GraphQLError(INEXACT_ID));
      }
      break;
    default:
  }
  const isQuoted = isQuotedByError(type, value);
  if (isQuoted) {
    execution.countWork(VALUES_PER_QUOTE);
  }
  const serialized = serializeChecked(type, isQuoted ? excerpt(value) : value);
  if (serialized == null) {
    throw new Error(
      `Expected \`${inspect(type)}.serialize(${inspect(value)})\` to return non-nullable value, returned: ${inspect(serialized)}`,
    );
  }
  return serialized;
}

/** Calls `serialize`. Scalars reject values with a GraphQLError; any other error is a bug of the scalar. */
function serializeChecked(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.serialize(value);
  } catch (error) {
    throw isGraphQLError(error) ? markInvalidValue(error) : error;
  }
}

/** Checks whether a scalar of GraphQL rejects the value with a message that quotes it, which is slow for large values. */
function isQuotedByError(type: GraphQLLeafType, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && type === GraphQLBoolean;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return isSpecifiedScalarType(type) && (prototype === Object.prototype || Array.isArray(value));
}

/** Estimates the size as JSON. Stops above `limit`. Counts escapes and non-ASCII characters as one byte. Throws if it has no JSON. */
function sizeOf(value: unknown, limit: number, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'number':
      return sizeOfNumber(value);
    case 'object':
      return value === null ? 4 : sizeOfObject(value, limit, depth);
    default:
      if (typeof value === 'bigint' || (typeof value !== 'boolean' && depth === 0)) {
        throw new Error(`A scalar returned a ${typeof value}, which JSON doesn't have.`);
      }
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
  if (depth === MAX_DEPTH) {
    throw new Error(`A scalar returned a value that contains itself, or is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return sizeOf(value.toJSON(), limit, depth + 1);
  }
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
