import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
} from 'graphql';
import { createReadArguments, type Variables } from './arguments.ts';

/** Checks whether `@skip` and `@include` include the selection. Throws if their variable has no value. */
export function isIncluded({ directives }: SelectionNode, variables: Variables): boolean {
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

/** Returns a key of the variables' values. Variables with the same key include the same selections. */
export const conditionsKey = (names: readonly string[], variables: Variables): string =>
  names.length === 0 ? '' : names.map((name) => keyOf(variables, name)).join('');

function keyOf(variables: Variables, name: string): string {
  if (!Object.hasOwn(variables, name)) {
    return '-';
  }
  const value = variables[name];
  if (typeof value === 'boolean') {
    return value ? 't' : 'f';
  }
  return value == null ? 'n' : 'o';
}
