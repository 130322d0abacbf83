import {
  type ASTNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLDirective,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  Kind,
  type ValueNode,
} from 'graphql';
import { DocumentError, truncateMessage } from './located-error.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** Returns the coerced arguments, as an object of its own for each call. */
export type ReadArguments = (variables: Variables) => Record<string, unknown>;

/** Creates a function that coerces the arguments of a field or directive; those without variables are coerced once. */
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
  const bare = withoutLocations(node);
  return (variables) => {
    try {
      return getArgumentValues(definition, bare, variables);
    } catch (error) {
      throw error instanceof GraphQLError ? blame(error, node, bare) : error;
    }
  };
}

/** Returns undefined if the arguments contain variables, are invalid, or contain objects that a resolver could change. */
function coerceFixed(
  definition: GraphQLField<unknown, unknown> | GraphQLDirective,
  node: FieldNode | DirectiveNode,
): Record<string, unknown> | undefined {
  if (node.arguments?.some(({ value }) => containsVariable(value))) {
    return undefined;
  }
  try {
    const values = getArgumentValues(definition, withoutLocations(node));
    return Object.values(values).every(isPrimitive) ? values : undefined;
  } catch {
    return undefined; // Reported when the field is reached.
  }
}

const isPrimitive = (value: unknown): boolean =>
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

/** Copies the nodes that errors name, so that GraphQLError's constructor does not scan the source for their location. */
function withoutLocations<Node extends FieldNode | DirectiveNode>(node: Node): Node {
  return {
    ...node,
    loc: undefined,
    arguments: node.arguments?.map((argument) => ({ ...argument, value: { ...argument.value, loc: undefined } })),
  };
}

function blame(
  { message, nodes: [blamed] = [] }: GraphQLError,
  node: FieldNode | DirectiveNode,
  bare: FieldNode | DirectiveNode,
): DocumentError {
  const index = bare.arguments?.findIndex(({ value }) => value === blamed) ?? -1;
  const original: ASTNode = node.arguments?.[index]?.value ?? node;
  return new DocumentError(truncateMessage(message), [original]);
}
