// Defines the types of plans: for selections, fields and values.

import type {
  FieldNode,
  GraphQLField,
  GraphQLFieldResolver,
  GraphQLLeafType,
  GraphQLObjectType,
  GraphQLResolveInfo,
  ResponsePath,
} from 'graphql';
import type { ReadArguments } from './arguments.ts';
import type { Execution, Position } from './execution.ts';

/** Fields of one selection set on one object type, in the order of the result. */
export interface SelectionPlan {
  readonly fields: readonly FieldPlan[];
  /** Estimated size of the keys as JSON, in bytes. */
  readonly bytes: number;
  readonly createResult: () => Record<string, unknown>;
}

export interface FieldPlan {
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  /** Resolver of the field; undefined for the default resolver. */
  readonly resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  readonly readArguments: ReadArguments;
  /** Whether the default resolver reads it, and it has no arguments. */
  readonly isProperty: boolean;
  /** Value of `__typename`; undefined for other fields. */
  readonly typename: string | undefined;
  readonly value: ValuePlan;
}

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
