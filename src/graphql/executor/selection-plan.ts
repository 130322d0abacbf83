import type { FieldNode, GraphQLField, GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { ReadArguments } from './arguments.ts';
import type { ValuePlan } from './complete.ts';

/** Fields of one selection set on one object type, in the order of the result. */
export interface SelectionPlan {
  readonly fields: readonly FieldPlan[];
  /** Estimated size of the keys as JSON, in bytes. */
  readonly bytes: number;
  readonly createResult: () => Record<string, unknown>;
}

/** Plan for executing one field. */
export interface FieldPlan {
  readonly key: string;
  /** All nodes with this key. */
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
