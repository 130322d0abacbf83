import { type Complete, completeValue } from './complete.ts';
import { awaitValue, isPromise } from './pending.ts';

/** Completes what a resolver returned or a list contains: a value, or the promise of one. */
export const completeResolved: Complete = (execution, plan, info, path, value) =>
  isPromise(value)
    ? awaitValue(execution, value, plan, path, (resolved) => completeValue(execution, plan, info, path, resolved))
    : completeValue(execution, plan, info, path, value);
