// Collects the fields selected on an object type, and applies `@skip` and `@include`.

import {
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

export interface PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
}

/**
 * Returns the fields selected on an object type, by response key and in the order of the result, as CollectFields of the specification. Visits each
 * fragment once, so that nested fragments can't multiply the work.
 */
export function collectFields(
  { schema, fragments }: PlanSource,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  variables: Variables,
): Map<string, FieldNode[]> {
  const nodesByKey = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();

  function collectFrom({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      const spread = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : undefined;
      if ((spread !== undefined && visitedFragments.has(spread)) || !isIncluded(selection, variables)) {
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
      if (spread !== undefined) {
        visitedFragments.add(spread);
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      if (fragment !== undefined && appliesTo(schema, fragment, type)) {
        collectFrom(fragment.selectionSet);
      }
    }
  }

  selectionSets.forEach(collectFrom);
  return nodesByKey;
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

  function visit({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      for (const { name, arguments: conditions = [] } of selection.directives ?? []) {
        const isCondition = name.value === GraphQLSkipDirective.name || name.value === GraphQLIncludeDirective.name;
        for (const { value } of isCondition ? conditions : []) {
          if (value.kind === Kind.VARIABLE) {
            names.add(value.name.value);
          }
        }
      }
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet !== undefined) {
        visit(selection.selectionSet);
      }
    }
  }

  for (const definition of definitions) {
    if ('selectionSet' in definition) {
      visit(definition.selectionSet);
    }
  }
  return [...names];
}
