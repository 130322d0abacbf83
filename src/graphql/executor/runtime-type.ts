import {
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** Returns the object type named by `resolveType`. Throws the same errors as graphql-js if it is not a possible type. */
export function toRuntimeType(
  schema: GraphQLSchema,
  abstractType: GraphQLAbstractType,
  typeName: unknown,
  info: GraphQLResolveInfo,
  value: unknown,
): GraphQLObjectType {
  const field = `"${info.parentType.name}.${info.fieldName}"`;
  if (typeName == null) {
    throw new GraphQLError(
      `Abstract type "${abstractType.name}" must resolve to an Object type at runtime for field ${field}. Either the "${abstractType.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`,
    );
  }
  if (isObjectType(typeName)) {
    throw new GraphQLError(
      'Support for returning GraphQLObjectType from resolveType was removed in graphql-js@16.0.0 please return type name instead.',
    );
  }
  if (typeof typeName !== 'string') {
    throw new GraphQLError(
      `Abstract type "${abstractType.name}" must resolve to an Object type at runtime for field ${field} with value ${inspect(value)}, received "${inspect(typeName)}".`,
    );
  }
  const type = schema.getType(typeName);
  if (type == null) {
    throw new GraphQLError(
      `Abstract type "${abstractType.name}" was resolved to a type "${typeName}" that does not exist inside the schema.`,
    );
  }
  if (!isObjectType(type)) {
    throw new GraphQLError(`Abstract type "${abstractType.name}" was resolved to a non-object type "${typeName}".`);
  }
  if (!schema.isSubType(abstractType, type)) {
    throw new GraphQLError(`Runtime Object type "${type.name}" is not a possible type for "${abstractType.name}".`);
  }
  return type;
}
