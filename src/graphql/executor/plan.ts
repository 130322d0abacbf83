// Plans the fields, arguments and value types of a selection, once for many executions.

import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { createReadArguments } from './arguments.ts';
import { collectFields, type PlanSource } from './collect-fields.ts';
import { createLeafCompletion, createListCompletion } from './complete-value.ts';
import {
  createAbstractCompletion,
  createObjectCompletion,
  createResultFactory,
  type PlanSelection,
} from './execute-fields.ts';
import type { Variables } from './graphql-js.ts';
import type { Complete, FieldPlan, SelectionPlan, ValuePlan } from './selection-plan.ts';

/** Plans the selection set of an operation, or the merged selection sets of a field's nodes, for one object type. */
export function planSelection(
  source: PlanSource,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  variables: Variables,
): SelectionPlan {
  const fields: FieldPlan[] = [];
  let bytes = 2;
  for (const [key, nodes] of collectFields(source, type, selectionSets, variables)) {
    const field = planField(source.schema, type, key, nodes);
    if (field !== undefined) {
      fields.push(field);
      bytes += key.length + 4;
    }
  }
  return { fields, bytes, createResult: createResultFactory() };
}

function planField(
  schema: GraphQLSchema,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): FieldPlan | undefined {
  const [node] = nodes;
  const definition = node && findDefinition(schema, parentType, node.name.value);
  if (node === undefined || definition === undefined) {
    return undefined; // graphql-js skips unknown fields too.
  }
  return {
    key,
    nodes,
    definition,
    parentType,
    resolve: definition.resolve,
    readArguments: createReadArguments(definition, node),
    isProperty: definition.resolve === undefined && definition.args.length === 0,
    typename: definition === TypeNameMetaFieldDef ? parentType.name : undefined,
    value: planValue(definition.type, nodes),
  };
}

function findDefinition(
  schema: GraphQLSchema,
  parentType: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) {
    return TypeNameMetaFieldDef;
  }
  if (parentType === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) {
      return SchemaMetaFieldDef;
    }
    if (name === TypeMetaFieldDef.name) {
      return TypeMetaFieldDef;
    }
  }
  return parentType.getFields()[name];
}

function planValue(type: GraphQLOutputType, nodes: readonly FieldNode[]): ValuePlan {
  const nullable = getNullableType(type);
  const leafType = isLeafType(nullable) ? nullable : undefined;
  return { nodes, isNonNull: isNonNullType(type), complete: createCompletion(type, nodes), leafType };
}

function createCompletion(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
  if (isNonNullType(type)) {
    return createCompletion(type.ofType, nodes);
  }
  if (isListType(type)) {
    return createListCompletion(planValue(type.ofType, nodes));
  }
  if (isLeafType(type)) {
    return createLeafCompletion(type);
  }
  // Planned at the first object, with that execution's variables. Executions with the same plan have the same condition values.
  const planSubselection: PlanSelection = (objectType, execution) =>
    planSelection(
      execution,
      objectType,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      execution.variables,
    );
  return isAbstractType(type)
    ? createAbstractCompletion(type, planSubselection)
    : createObjectCompletion(type, planSubselection);
}
