import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { type DependentCalls, dependentCallsOf } from '../declarations.ts';
import { planSelection } from '../executor/plan.ts';
import type { FieldPlan } from '../executor/selection-plan.ts';

/** Selected field whose calls data decides. */
export interface Dependent {
  /** Name, such as `Workflow.notificationGroup`. */
  readonly field: string;
  readonly calls: DependentCalls;
  /** Maximum number of records that one value of the field needs. */
  readonly most: number;
  /** Object that it is a field of. Two fields at the same place below the same record belong to the same object. */
  readonly place: Place;
  /** Such fields of the records that it loads. */
  readonly dependents: readonly Dependent[];
}

interface Place {
  /** Names of the fields between it and the record or root field. */
  readonly path: string;
  /** Number of lists among them. */
  readonly lists: number;
}

type Position = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** Returns the selected fields below a field whose calls data decides, for all types that its value can have. */
export function findDependents(
  position: Position,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  place: Place = { path: '', lists: countLists(type) },
): Dependent[] {
  const named = getNamedType(type);
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  if (!isCompositeType(named) || selectionSets.length === 0) {
    return [];
  }
  return possibleTypes(position.schema, named).flatMap((possible) =>
    fieldsOf(position, possible, selectionSets).flatMap((field) => dependentsAt(position, field, place)),
  );
}

/** Returns the selected fields. There are none if a condition is invalid, because then an object of this type fails. */
function fieldsOf(
  position: Position,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly FieldPlan[] {
  try {
    return planSelection(position, type, selectionSets, position.variableValues).fields;
  } catch {
    return [];
  }
}

function dependentsAt(position: Position, field: FieldPlan, place: Place): Dependent[] {
  const { definition, nodes, parentType } = field;
  const calls = dependentCallsOf(definition.extensions);
  if (calls === undefined) {
    const step = definition.args.length === 0 ? definition.name : field.key;
    const lists = place.lists + countLists(definition.type);
    return findDependents(position, definition.type, nodes, { path: `${place.path}.${step}`, lists });
  }
  const most = mostOf(calls, () => field.readArguments(position.variableValues));
  const name = `${parentType.name}.${definition.name}`;
  return [{ field: name, calls, most, place, dependents: findDependents(position, definition.type, nodes) }];
}

/** Returns the maximum number of records. With invalid arguments, it is 0, because the field fails. */
export function mostOf(calls: DependentCalls, readArguments: () => Record<string, unknown>): number {
  try {
    return calls.maxRecords(readArguments());
  } catch {
    return 0;
  }
}

const possibleTypes = (schema: GraphQLSchema, type: ReturnType<typeof getNamedType>) =>
  isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];

function countLists(type: GraphQLOutputType): number {
  if (isNonNullType(type)) {
    return countLists(type.ofType);
  }
  return isListType(type) ? 1 + countLists(type.ofType) : 0;
}
