import type { GraphQLResolveInfo, ResponsePath } from 'graphql';
import { completeValue, type ValuePlan } from './complete.ts';
import type { Execution } from './execution.ts';
import { awaitValue, isPromise } from './pending.ts';

/** Completes what a resolver returned or a list contains: a value, or the promise of one. */
export function completeResolved(
  execution: Execution,
  plan: ValuePlan,
  info: GraphQLResolveInfo,
  path: ResponsePath,
  value: unknown,
): unknown {
  return isPromise(value)
    ? awaitValue(execution, value, plan, path, (resolved) => completeValue(execution, plan, info, path, resolved))
    : completeValue(execution, plan, info, path, value);
}
