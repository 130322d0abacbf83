import type { GraphQLLeafType, GraphQLResolveInfo, ResponsePath } from 'graphql';
import { markInvalidValue } from '../located-error.ts';
import type { Execution, Position } from './execution.ts';

/**
 * Completes a value of one type. Returns the value or a Pending one, and throws if null is not allowed. Implementations avoid closures,
 * arrays and promises per value, because they are the hot path.
 */
export type Complete = (
  execution: Execution,
  plan: ValuePlan,
  info: GraphQLResolveInfo,
  path: ResponsePath,
  value: unknown,
) => unknown;

/** Plan for completing the values at one position of the document: a field, or the items of its list. */
export interface ValuePlan extends Position {
  /** Completes a value that is neither null nor an error. */
  readonly complete: Complete;
  /** The scalar or enum type of the values, also if it is non-null; undefined for other types. */
  readonly leafType: GraphQLLeafType | undefined;
}

/** Completes a value that is not a promise. */
export const completeValue: Complete = (execution, plan, info, path, value) => {
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
