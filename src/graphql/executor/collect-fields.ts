import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import type { Variables } from './arguments.ts';
import { isIncluded } from './conditions.ts';

/** Fragments of a document by name. */
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
