// Coerces the arguments of fields and directives.

import {
  type ASTNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  getNullableType,
  isNonNullType,
  Kind,
  print,
  type ValueNode,
} from 'graphql';
import { DocumentError, truncateMessage } from '../../errors/located-error.ts';
import { coerceLiteral, defaultOf, type Variables } from './graphql-js.ts';

/** Returns the coerced arguments. Each call returns a new object. */
export type ReadArguments = (variables: Variables) => Record<string, unknown>;

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
