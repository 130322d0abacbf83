import {
  type ASTNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLDirective,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import { DocumentError, truncateMessage } from '../located-error.ts';

/** Values of variables by name. */
export type Variables = Readonly<Record<string, unknown>>;

/** Returns the coerced arguments. Each call returns a new object. */
export type ReadArguments = (variables: Variables) => Record<string, unknown>;

/** Creates a function that coerces the arguments of a field or directive. Coerces arguments without variables only once. */
export function createReadArguments(
  definition: GraphQLField<unknown, unknown> | GraphQLDirective,
  node: FieldNode | DirectiveNode,
): ReadArguments {
  if (definition.args.length === 0) {
    return () => ({});
  }
  const fixed = coerceFixed(definition, node);
  if (fixed !== undefined) {
    return () => ({ ...fixed });
  }
  const unlocatedNode = withoutLocations(node);
  const sources = findVariables(definition, node);
  return (variables) => {
    const values = sources && readVariables(sources, variables);
    if (values !== undefined) {
      return values;
    }
    try {
      return getArgumentValues(definition, unlocatedNode, variables);
    } catch (error) {
      throw error instanceof GraphQLError ? toDocumentError(error, node, unlocatedNode) : error;
    }
  };
}

/** Argument whose value is a variable. */
interface VariableArgument {
  readonly name: string;
  readonly variable: string;
  readonly isNonNull: boolean;
}

/** Returns the arguments whose value is a variable. Returns undefined if another argument has a value or default, or is required. */
function findVariables(
  { args }: GraphQLField<unknown, unknown> | GraphQLDirective,
  node: FieldNode | DirectiveNode,
): readonly VariableArgument[] | undefined {
  const found: VariableArgument[] = [];
  for (const { name, type, defaultValue } of args) {
    const value = node.arguments?.findLast((argument) => argument.name.value === name)?.value;
    const isNonNull = isNonNullType(type);
    if (value?.kind === Kind.VARIABLE && name !== '__proto__') {
      found.push({ name, variable: value.name.value, isNonNull });
    } else if (value !== undefined || defaultValue !== undefined || isNonNull) {
      return undefined;
    }
  }
  return found;
}

/** Returns the arguments from coerced variables. Returns undefined if one is missing, or null for a non-null argument. */
function readVariables(args: readonly VariableArgument[], variables: Variables): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const { name, variable, isNonNull } of args) {
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (value === undefined || (value === null && isNonNull)) {
      return undefined;
    }
    values[name] = value;
  }
  return values;
}

/** Coerces arguments once for all calls. Returns undefined if they contain variables, are invalid, or contain objects, which resolvers could change. */
function coerceFixed(
  definition: GraphQLField<unknown, unknown> | GraphQLDirective,
  node: FieldNode | DirectiveNode,
): Record<string, unknown> | undefined {
  if (node.arguments?.some(({ value }) => containsVariable(value))) {
    return undefined;
  }
  try {
    const values = getArgumentValues(definition, withoutLocations(node));
    return Object.values(values).every(isImmutable) ? values : undefined;
  } catch {
    return undefined; // Reported when the field is executed.
  }
}

const isImmutable = (value: unknown): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function');

function containsVariable(value: ValueNode): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return value.values.some(containsVariable);
    case Kind.OBJECT:
      return value.fields.some((field) => containsVariable(field.value));
    default:
      return false;
  }
}

/** Copies a node without locations, so that GraphQLError's constructor doesn't scan the source for them. */
function withoutLocations<Node extends FieldNode | DirectiveNode>(node: Node): Node {
  return {
    ...node,
    loc: undefined,
    arguments: node.arguments?.map((argument) => ({ ...argument, value: { ...argument.value, loc: undefined } })),
  };
}

/** Converts an error of `getArgumentValues` to one that names the original node. */
function toDocumentError(
  { message, nodes: [invalidNode] = [] }: GraphQLError,
  node: FieldNode | DirectiveNode,
  unlocatedNode: FieldNode | DirectiveNode,
): DocumentError {
  const index = unlocatedNode.arguments?.findIndex(({ value }) => value === invalidNode) ?? -1;
  const original: ASTNode = node.arguments?.[index]?.value ?? node;
  return new DocumentError(truncateMessage(message), [original]);
}
