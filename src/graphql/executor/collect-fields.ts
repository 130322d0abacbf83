// Collects the fields selected on an object type, and applies `@skip` and `@include`.

import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import { createReadArguments } from './arguments.ts';
import type { Variables } from './graphql-js.ts';

export type Fragments = Record<string, FragmentDefinitionNode>;

/** Definitions that selections refer to. */
export interface PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
}

/** Returns the fields selected on an object type, by response key and in the order of the result. */
export function collectFields(
  source: PlanSource,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  variables: Variables,
): Map<string, FieldNode[]> {
  const nodesByKey = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();
  for (const selectionSet of selectionSets) {
    collectFrom(source, type, selectionSet, variables, nodesByKey, visitedFragments);
  }
  return nodesByKey;
}

/** Implements CollectFields of the specification. Visits each fragment once, so that nested fragments can't multiply the work. */
function collectFrom(
  source: PlanSource,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  variables: Variables,
  nodesByKey: Map<string, FieldNode[]>,
  visitedFragments: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD && visitedFragments.has(selection.name.value)) {
      continue;
    }
    if (!isIncluded(selection, variables)) {
      continue;
    }
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const nodes = nodesByKey.get(key);
      if (nodes === undefined) {
        nodesByKey.set(key, [selection]);
      } else {
        nodes.push(selection);
      }
      continue;
    }
    let fragment: InlineFragmentNode | FragmentDefinitionNode | undefined;
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      visitedFragments.add(selection.name.value);
      fragment = source.fragments[selection.name.value];
    } else {
      fragment = selection;
    }
    if (fragment !== undefined && appliesTo(source.schema, fragment, type)) {
      collectFrom(source, type, fragment.selectionSet, variables, nodesByKey, visitedFragments);
    }
  }
}

function appliesTo(
  schema: GraphQLSchema,
  { typeCondition }: InlineFragmentNode | FragmentDefinitionNode,
  type: GraphQLObjectType,
): boolean {
  if (typeCondition === undefined) {
    return true;
  }
  const conditionalType = typeFromAST(schema, typeCondition);
  return conditionalType === type || (isAbstractType(conditionalType) && schema.isSubType(conditionalType, type));
}

/** Checks whether `@skip` and `@include` include the selection. Throws if their variable has no value. */
function isIncluded({ directives }: SelectionNode, variables: Variables): boolean {
  if (directives === undefined || directives.length === 0) {
    return true;
  }
  const skip = directives.find(({ name }) => name.value === GraphQLSkipDirective.name);
  if (skip !== undefined && createReadArguments(GraphQLSkipDirective, skip)(variables).if === true) {
    return false;
  }
  const include = directives.find(({ name }) => name.value === GraphQLIncludeDirective.name);
  return include === undefined || createReadArguments(GraphQLIncludeDirective, include)(variables).if !== false;
}

/** Returns the names of the variables that `@skip` and `@include` depend on, anywhere in the document. */
export function findConditionVariables({ definitions }: DocumentNode): readonly string[] {
  const names = new Set<string>();
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION) {
      visitSelections(definition.selectionSet.selections, names);
    }
  }
  return [...names];
}

function visitSelections(selections: readonly SelectionNode[], names: Set<string>): void {
  for (const selection of selections) {
    for (const directive of selection.directives ?? []) {
      addVariable(directive, names);
    }
    if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet !== undefined) {
      visitSelections(selection.selectionSet.selections, names);
    }
  }
}

function addVariable({ name, arguments: conditions = [] }: DirectiveNode, names: Set<string>): void {
  if (name.value !== GraphQLSkipDirective.name && name.value !== GraphQLIncludeDirective.name) {
    return;
  }
  for (const { value } of conditions) {
    if (value.kind === Kind.VARIABLE) {
      names.add(value.name.value);
    }
  }
}
