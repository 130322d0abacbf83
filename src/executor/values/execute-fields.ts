// Resolves the fields of objects, and finds the object types of interfaces and unions.

import {
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  type ResponsePath,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { isPromise } from '../../lib/promises.ts';
import type { Execution } from '../execution/execution.ts';
import { getAbortSignal, getAsyncHelpers, toInfoVariables } from '../execution/graphql-js.ts';
import { STOPPED } from '../execution/result-limits.ts';
import type { Complete, FieldPlan, SelectionPlan, ValuePlan } from '../selections.ts';
import { completeLeaf, completeResolved, isPrimitive } from './complete-value.ts';
import { awaitValue, Pending, PendingObject } from './pending.ts';

/** Executes the fields of an object. Returns its result, or a pending one if a field is pending. */
export function executeFields(
  execution: Execution,
  { fields, bytes, createResult }: SelectionPlan,
  source: unknown,
  plan: ValuePlan | undefined,
  path: ResponsePath | undefined,
): Record<string, unknown> | PendingObject {
  execution.countValues(fields.length, bytes);
  const result = createResult();
  let container: PendingObject | undefined;
  try {
    for (const field of fields) {
      const value = executeField(execution, field, source, path);
      if (value instanceof Pending) {
        container ??= new PendingObject(execution, plan, path, result);
        container.add(value, field.key);
        result[field.key] = undefined;
      } else {
        result[field.key] = value;
      }
    }
  } catch (error) {
    if (container === undefined) {
      throw error;
    }
    container.failWhenSettled(error);
  }
  return container ?? result;
}

export function executeField(
  execution: Execution,
  field: FieldPlan,
  source: unknown,
  parentPath: ResponsePath | undefined,
): unknown {
  const { value: plan, typename, definition } = field;
  if (typename !== undefined) {
    execution.bytes += typename.length + 2;
    return typename;
  }
  let path: ResponsePath | undefined;
  try {
    if (execution.isStopped) {
      throw STOPPED;
    }
    const isProperty = field.isProperty && execution.readsProperties && isObject(source);
    const property = isProperty ? source[definition.name] : undefined;
    if (plan.leafType !== undefined && isPrimitive(property)) {
      return completeLeaf(execution, plan.leafType, property); // Most fields end here, without path, arguments and information.
    }
    path = pathOf(field, parentPath);
    const info = infoOf(execution, field, path);
    const resolve = field.resolve ?? execution.fieldResolver;
    const value =
      isProperty && typeof property !== 'function'
        ? property
        : resolve(source, field.readArguments(execution.variables), execution.contextValue, info);
    return completeResolved(execution, plan, info, path, value);
  } catch (error) {
    return execution.handleError(error, plan, path ?? pathOf(field, parentPath));
  }
}

const isObject = (source: unknown): source is Readonly<Record<string, unknown>> =>
  typeof source === 'object' && source !== null;

const pathOf = ({ key, parentType }: FieldPlan, parentPath: ResponsePath | undefined): ResponsePath => ({
  prev: parentPath,
  key,
  typename: parentType.name,
});

/** Creates the information for a resolver. It has all members, because a resolver may spread the object. The allocation takes 10 ns. */
const infoOf = (execution: Execution, field: FieldPlan, path: ResponsePath) => ({
  fieldName: field.definition.name,
  fieldNodes: field.nodes,
  returnType: field.definition.type,
  parentType: field.parentType,
  path,
  schema: execution.schema,
  fragments: execution.fragments,
  rootValue: execution.rootValue,
  operation: execution.operation,
  variableValues: toInfoVariables(execution.variables),
  getAbortSignal,
  getAsyncHelpers,
});

export type PlanSelection = (type: GraphQLObjectType, execution: Execution) => SelectionPlan;

export function createObjectCompletion(type: GraphQLObjectType, planSelection: PlanSelection): Complete {
  let selection: SelectionPlan | undefined;
  return (execution, plan, info, path, value) => {
    selection ??= planSelection(type, execution);
    return completeObject(execution, plan, type, selection, info, path, value);
  };
}

/** Creates the completion function of an interface or union, whose object types `resolveType` determines. */
export function createAbstractCompletion(abstractType: GraphQLAbstractType, planSelection: PlanSelection): Complete {
  const possibleTypes = new Map<unknown, { type: GraphQLObjectType; selection: SelectionPlan }>();

  function completeRuntimeType(
    execution: Execution,
    plan: ValuePlan,
    typeName: unknown,
    info: GraphQLResolveInfo,
    path: ResponsePath,
    value: unknown,
  ): unknown {
    let possible = possibleTypes.get(typeName);
    if (possible === undefined) {
      const type = toRuntimeType(execution.schema, abstractType, typeName, info, value);
      possible = { type, selection: planSelection(type, execution) };
      possibleTypes.set(typeName, possible);
    }
    return completeObject(execution, plan, possible.type, possible.selection, info, path, value);
  }

  /** Returns the completion of a value whose type name is awaited. A function of its own, so that other values need no closure. */
  const withTypeName =
    (value: unknown): Complete =>
    (execution, plan, info, path, typeName) =>
      completeRuntimeType(execution, plan, typeName, info, path, value);

  return (execution, plan, info, path, value) => {
    const resolveType = abstractType.resolveType ?? execution.typeResolver;
    const typeName: unknown = resolveType(value, execution.contextValue, info, abstractType);
    return isPromise(typeName)
      ? awaitValue(execution, typeName, plan, info, path, withTypeName(value))
      : completeRuntimeType(execution, plan, typeName, info, path, value);
  };
}

function completeObject(
  execution: Execution,
  plan: ValuePlan,
  type: GraphQLObjectType,
  selection: SelectionPlan,
  info: GraphQLResolveInfo,
  path: ResponsePath,
  value: unknown,
): unknown {
  if (!type.isTypeOf) {
    return executeFields(execution, selection, value, plan, path);
  }
  const complete = ifAccepted(type, selection, value);
  const isTypeOf: unknown = type.isTypeOf(value, execution.contextValue, info);
  return isPromise(isTypeOf)
    ? awaitValue(execution, isTypeOf, plan, info, path, complete)
    : complete(execution, plan, info, path, isTypeOf);
}

/** Returns the completion of the result of `isTypeOf`. A function of its own, so that other values need no closure. */
const ifAccepted =
  (type: GraphQLObjectType, selection: SelectionPlan, value: unknown): Complete =>
  (execution, plan, _info, path, isTypeOf) => {
    if (!isTypeOf) {
      throw new GraphQLError(`Expected value of type "${type.name}" but got: ${inspect(value)}.`);
    }
    return executeFields(execution, selection, value, plan, path);
  };

/** Returns the object type named by `resolveType`. Throws the same errors as graphql-js if it is not a possible type. */
function toRuntimeType(
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

/**
 * Returns a function that creates results of one selection set. Results don't inherit `Object.prototype`, because a field can have the
 * alias `__proto__`.
 *
 * V8 stores objects without a prototype as dictionaries. Creating them and writing them as JSON takes two to three times as long as for
 * instances of a class with an empty prototype. Creating the class takes as long as planning, so it is created only for the second result.
 */
export function createResultFactory(): () => Record<string, unknown> {
  let isFirst = true;
  let ResultClass: ReturnType<typeof createResultClass> | undefined;
  return () => {
    if (isFirst) {
      isFirst = false;
      return Object.create(null);
    }
    ResultClass ??= createResultClass();
    return new ResultClass();
  };
}

function createResultClass(): new () => Record<string, unknown> {
  class Result {
    [key: string]: unknown;
  }
  Reflect.deleteProperty(Result.prototype, 'constructor');
  Object.setPrototypeOf(Result.prototype, null);
  return Result;
}
