// Reads the selections of a document: the fields that they include for an object type, and their arguments. Defines the plans of both.

import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getNullableType,
  type InlineFragmentNode,
  isAbstractType,
  isNonNullType,
  Kind,
  print,
  type ResponsePath,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
  type ValueNode,
  visit,
} from 'graphql';
import { DocumentError, truncateMessage } from '../errors/located-error.ts';
import type { Execution, PlanSource, Position } from './execution/execution.ts';
import { coerceLiteral, defaultOf, type Variables } from './execution/graphql-js.ts';

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

/** Returns the fragments of a document by name. */
export const fragmentsOf = ({ definitions }: DocumentNode): PlanSource['fragments'] => {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return Object.assign(Object.create(null), Object.fromEntries(fragments.map((each) => [each.name.value, each])));
};

/**
 * Returns the fields selected on an object type, by response key and in the order of the result, as CollectFields of the specification. Visits each
 * fragment once, so that nested fragments can't multiply the work.
 *
 * @param variables values that decide about `@skip` and `@include`; `all` ignores both
 */
export function collectFields(
  { schema, fragments }: PlanSource,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  variables: Variables | 'all',
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
function isIncluded({ directives }: SelectionNode, variables: Variables | 'all'): boolean {
  if (directives === undefined || directives.length === 0 || variables === 'all') {
    return true;
  }
  const conditionOf = (directive: GraphQLDirective) => {
    const node = directives.find(({ name }) => name.value === directive.name);
    return node && createReadArguments(directive, node)(variables).if;
  };
  return conditionOf(GraphQLSkipDirective) !== true && conditionOf(GraphQLIncludeDirective) !== false;
}

/** Returns the names of the variables that `@skip` and `@include` depend on, anywhere in the document. */
export function findConditionVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive({ name, arguments: conditions = [] }) {
      const isCondition = name.value === GraphQLSkipDirective.name || name.value === GraphQLIncludeDirective.name;
      for (const { value } of isCondition ? conditions : []) {
        if (value.kind === Kind.VARIABLE) {
          names.add(value.name.value);
        }
      }
    },
  });
  return [...names];
}

/** Returns the coerced arguments. Each call returns a new object. */
type ReadArguments = (variables: Variables) => Record<string, unknown>;

/** Creates a function that coerces the arguments of a field or directive. Coerces values without variables only once. */
export function createReadArguments(
  definition: GraphQLField<unknown, unknown> | GraphQLDirective,
  node: FieldNode | DirectiveNode,
): ReadArguments {
  if (definition.args.length === 0) {
    return () => ({});
  }
  const args = definition.args.map((argument) => ({ name: argument.name, read: createReadArgument(argument, node) }));
  return (variables) => {
    const values: Record<string, unknown> = {};
    for (const { name, read } of args) {
      const value = read(variables);
      if (value !== undefined) {
        values[name] = value;
      }
    }
    return values;
  };
}

/** Creates a function that returns the value of one argument, undefined if it has none. `getArgumentValues` differs between the versions of graphql-js. */
function createReadArgument(
  argument: GraphQLArgument,
  node: FieldNode | DirectiveNode,
): (variables: Variables) => unknown {
  const { name, type } = argument;
  const defaultValue = defaultOf(argument);
  const isNonNull = isNonNullType(type);
  const fail = (reason: string, at: ASTNode): never => {
    throw new DocumentError(truncateMessage(`Argument "${name}" ${reason}.`), [at]);
  };
  const defaultFor = (missing: string, at: ASTNode): unknown =>
    defaultValue === undefined && isNonNull ? fail(`of required type "${type}" was ${missing}`, at) : defaultValue;
  const value = node.arguments?.findLast((each) => each.name.value === name)?.value;
  if (value === undefined) {
    return () => defaultFor('not provided', node);
  }
  const requireValue = (coerced: unknown): unknown => {
    if (coerced === null && isNonNull) {
      return fail(`of non-null type "${type}" must not be null`, value);
    }
    return coerced === undefined ? fail(`has invalid value ${print(value)}`, value) : coerced;
  };
  if (value.kind === Kind.VARIABLE) {
    const variable = value.name.value;
    const missing = `provided the variable "$${variable}" which was not provided a runtime value`;
    return ({ coerced }) =>
      Object.hasOwn(coerced, variable) ? requireValue(coerced[variable]) : defaultFor(missing, value);
  }
  const nullable = value.kind === Kind.NULL ? getNullableType(type) : type; // Null has an error of its own.
  if (containsVariable(value)) {
    return (variables) => requireValue(coerceLiteral(value, nullable, variables));
  }
  const fixed = coerceLiteral(value, nullable);
  return isImmutable(fixed) ? () => requireValue(fixed) : () => coerceLiteral(value, nullable); // Resolvers could change an object.
}

const isImmutable = (value: unknown): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function');

const containsVariable = (value: ValueNode): boolean =>
  value.kind === Kind.VARIABLE ||
  (value.kind === Kind.LIST && value.values.some(containsVariable)) ||
  (value.kind === Kind.OBJECT && value.fields.some((field) => containsVariable(field.value)));
