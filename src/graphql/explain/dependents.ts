import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  type SelectionSetNode,
} from 'graphql';
import { type DependentCalls, dependentCallsOf } from '../declarations.ts';
import { variablesOf } from '../executor/graphql-js.ts';
import { planSelection } from '../executor/plan.ts';
import type { FieldPlan } from '../executor/selection-plan.ts';

/** Selected field whose calls data decides. */
export interface Dependent {
  /** Name, such as `Workflow.notificationGroup`. */
  readonly name: string;
  readonly declared: DependentCalls;
  /** Maximum number of records that it loads, for all objects that it is selected on. */
  readonly records: number;
  /** Ids of the calls that return these objects. */
  readonly after: readonly number[];
  /** Returns the dependent fields of the records, once the call that loads them has an id. */
  readonly next: (id: number) => Dependent[];
}

/** Objects that a field returns. */
interface Objects {
  readonly type: GraphQLOutputType;
  /** Nodes of the field, which have the selections. */
  readonly nodes: readonly FieldNode[];
  /** Maximum number. Infinite if they are items of a list that the service sends. */
  readonly count: number;
  /** Ids of the calls that return them. */
  readonly after: readonly number[];
}

/** Returns the name of a root field, such as `Query.workflow`. */
export const nameOf = ({ parentType, fieldName }: GraphQLResolveInfo): string => `${parentType.name}.${fieldName}`;

/**
 * Returns the dependent fields of a root field: itself, or those of its selection.
 *
 * @param calls its certain calls: the number of records that they return, and their ids
 */
export function dependentsOfRoot(
  info: GraphQLResolveInfo,
  args: Record<string, unknown>,
  { records, after }: { records: number; after: readonly number[] },
): Dependent[] {
  const { parentType, fieldName, returnType: type, fieldNodes: nodes } = info;
  const declared = dependentCallsOf(parentType.getFields()[fieldName]?.extensions);
  const recordsPerObject = declared === undefined ? 0 : maxRecordsOf(declared, () => args);
  const objects = { type, nodes, count: isList(type) ? records + recordsPerObject : 1 };
  if (declared === undefined || recordsPerObject === 0) {
    return findDependents(info, { ...objects, after });
  }
  const next = (id: number) => findDependents(info, { ...objects, after: [...after, id] });
  return [{ name: nameOf(info), declared, records: recordsPerObject, after, next }];
}

/** Returns the dependent fields of objects, for all types that they can have. */
function findDependents(info: GraphQLResolveInfo, { type, nodes, count, after }: Objects): Dependent[] {
  const named = getNamedType(type);
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  if (!isCompositeType(named) || selectionSets.length === 0) {
    return [];
  }
  const types = isAbstractType(named) ? info.schema.getPossibleTypes(named) : [named];
  const fields = types.flatMap((possible) => fieldsOf(info, possible, selectionSets));
  return fields.flatMap(({ definition, parentType, nodes: fieldNodes, readArguments }) => {
    const declared = dependentCallsOf(definition.extensions);
    const objects = { type: definition.type, nodes: fieldNodes };
    if (declared === undefined) {
      const items = isList(definition.type) ? Number.POSITIVE_INFINITY : count;
      return findDependents(info, { ...objects, count: items, after });
    }
    const perObject = maxRecordsOf(declared, () => readArguments(variablesOf(info)));
    const records = perObject === 0 ? 0 : perObject * count;
    const name = `${parentType.name}.${definition.name}`;
    const next = (id: number) => findDependents(info, { ...objects, count: records, after: [id] });
    return records === 0 ? [] : [{ name, declared, records, after, next }];
  });
}

/** Returns the selected fields. There are none if a condition is invalid, because then an object of this type fails. */
function fieldsOf(
  info: GraphQLResolveInfo,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly FieldPlan[] {
  try {
    return planSelection(info, type, selectionSets, variablesOf(info)).fields;
  } catch {
    return [];
  }
}

/** Returns the maximum number of records that a field loads per object. With invalid arguments, it is 0, because the field fails. */
function maxRecordsOf({ maxRecords }: DependentCalls, readArguments: () => Record<string, unknown>): number {
  try {
    return maxRecords(readArguments());
  } catch {
    return 0;
  }
}

const isList = (type: GraphQLOutputType): boolean => isListType(getNullableType(type));
