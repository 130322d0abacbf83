import { GraphQLError, type GraphQLResolveInfo, type ResponsePath } from 'graphql';
import { markInvalidValue } from '../located-error.ts';
import type { Complete, ValuePlan } from './complete.ts';
import { completeLeaf, isPrimitive } from './complete-leaf.ts';
import { completeResolved } from './complete-resolved.ts';
import type { Execution } from './execution.ts';
import { listError, STOPPED } from './limits.ts';
import { Pending, PendingList } from './pending.ts';

/** Creates the completion function of lists with these items. */
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
      throw STOPPED;
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
  const maxItems = execution.limits.maxUpstreamListItems;
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
      item.catch(() => undefined);
    }
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  Symbol.iterator in value &&
  typeof value[Symbol.iterator] === 'function';
