import { type Complete, completeValue } from './complete.ts';
import { awaitValue, isPromise } from './pending.ts';

/** Completes the result of a resolver or an item of a list: a value or a promise. */
export const completeResolved: Complete = (execution, plan, info, path, value) =>
  isPromise(value)
    ? awaitValue(execution, value, plan, info, path, completeValue)
    : completeValue(execution, plan, info, path, value);
