import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { isRecord } from '../../lib/is-record.ts';
import { isDeprecated } from './deprecated-elements.ts';

/** Variable whose values can use deprecated elements. */
export interface Variable {
  name: string;
  type: GraphQLInputType;
}

/** Maximum nesting of a value. What is deeper is ignored. */
const MAX_DEPTH = 32;

/** Returns the variables of an operation whose values can use deprecated input fields or enum values. */
export const findVariables = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Variable[] =>
  variableDefinitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node);
    return isInputType(type) && canUseDeprecated(type, new Set()) ? [{ name: variable.name.value, type }] : [];
  });

function canUseDeprecated(outer: GraphQLInputType, seen: Set<unknown>): boolean {
  const type = getNamedType(outer);
  if (seen.has(type)) {
    return false;
  }
  seen.add(type);
  if (isEnumType(type)) {
    return type.getValues().some(isDeprecated);
  }
  return (
    isInputObjectType(type) &&
    Object.values(type.getFields()).some((field) => isDeprecated(field) || canUseDeprecated(field.type, seen))
  );
}

/** Adds the coordinates of deprecated elements that a value uses. The value is not coerced or validated yet. */
export function addUsage(value: unknown, type: GraphQLInputType, used: Set<string>, depth = 0): void {
  if (isNonNullType(type)) {
    addUsage(value, type.ofType, used, depth);
  } else if (isListType(type)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      addUsage(item, type.ofType, used, depth);
    }
  } else if (isEnumType(type)) {
    if (typeof value === 'string' && isDeprecated(type.getValue(value))) {
      used.add(`${type.name}.${value}`);
    }
  } else if (isInputObjectType(type) && isRecord(value) && depth < MAX_DEPTH) {
    for (const field of Object.values(type.getFields())) {
      if (value[field.name] !== undefined && Object.hasOwn(value, field.name)) {
        if (isDeprecated(field)) {
          used.add(`${type.name}.${field.name}`);
        }
        addUsage(value[field.name], field.type, used, depth + 1);
      }
    }
  }
}
