import type { GraphQLResolveInfo, ResponsePath } from 'graphql';
import type { ValuePlan } from './complete.ts';
import { completeLeaf, isPrimitive } from './complete-leaf.ts';
import { completeResolved } from './complete-resolved.ts';
import type { Execution } from './execution.ts';
import { STOPPED } from './limits.ts';
import { Pending, PendingObject } from './pending.ts';
import type { FieldPlan, SelectionPlan } from './selection-plan.ts';

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

/** Resolves a field and completes its value. */
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
        : resolve(source, field.readArguments(execution.variableValues), execution.contextValue, info);
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
const infoOf = (execution: Execution, field: FieldPlan, path: ResponsePath): GraphQLResolveInfo => ({
  fieldName: field.definition.name,
  fieldNodes: field.nodes,
  returnType: field.definition.type,
  parentType: field.parentType,
  path,
  schema: execution.schema,
  fragments: execution.fragments,
  rootValue: execution.rootValue,
  operation: execution.operation,
  variableValues: execution.variableValues,
});
