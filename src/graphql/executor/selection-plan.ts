import type { FieldNode, GraphQLField, GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { ReadArguments } from './arguments.ts';
import type { ValuePlan } from './complete.ts';

/** The fields of one selection set on one object type, in the order of the result. */
export interface SelectionPlan {
  readonly fields: readonly FieldPlan[];
  /** Estimated size of the keys as JSON. */
  readonly bytes: number;
  readonly createResult: () => Record<string, unknown>;
}

export interface FieldPlan {
  readonly key: string;
  /** All nodes with this key, merged. */
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  /** Undefined: the default resolver. */
  readonly resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  readonly readArguments: ReadArguments;
  /** The value of `__typename`; undefined for other fields. */
  readonly typename: string | undefined;
  readonly value: ValuePlan;
}
