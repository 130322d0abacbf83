// Finds the fields of an operation whose number of calls depends on the data of other calls.

import {
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  responsePathAsArray,
} from 'graphql';
import { planSelection, variablesOf } from '../../executor/plans.ts';
import { orUndefined } from '../../lib/caught.ts';
import type { UpstreamRequest } from '../../upstream/calls.ts';
import { type DependentCalls, dependentCallsOf } from '../declared-calls.ts';

/** Selected field. Data of other calls decides how many calls it makes. */
export interface Dependent {
  readonly name: string;
  /** Calls that it can make, each with the maximum for all objects that it is selected on. Not empty. */
  readonly needs: readonly { readonly calls: DependentCalls; readonly max: number }[];
  /** Ids of the calls that return these objects. */
  readonly after: readonly number[];
  /** Returns the dependent fields of what it returns, once its calls have ids. */
  readonly next: (ids: readonly number[]) => Dependent[];
}

interface Objects {
  readonly type: GraphQLOutputType;
  readonly nodes: readonly FieldNode[];
  /** Maximum number. Infinite if they are items of a list that the service sends. */
  readonly count: number;
  readonly after: readonly number[];
}

/** Call, recorded instead of sent. Its owner is the field or the loader's record that needs it. */
export type RecordedCall = Readonly<{ owner: string; request: UpstreamRequest }>;

/** Returns the place of a field in the response, such as `inbox.messages`, which is unique in the operation. */
export const keyOf = ({ path }: GraphQLResolveInfo): string => responsePathAsArray(path).join('.');

/** Returns the name of a field, such as `Query.workflow`. */
export const nameOf = ({ parentType, fieldName }: GraphQLResolveInfo): string => `${parentType.name}.${fieldName}`;

/**
 * Returns the dependent fields of a field that was run: itself, or those of its selection.
 *
 * @param calls its recorded calls, their ids, and the value of a root field without data, such as a list of nulls
 */
export function dependentsOfRun(
  info: GraphQLResolveInfo,
  args: Record<string, unknown>,
  { recorded, after, value }: { recorded: readonly RecordedCall[]; after: readonly number[]; value: unknown },
): Dependent[] {
  const { parentType, fieldName, returnType: type, fieldNodes: nodes } = info;
  const key = keyOf(info);
  const declared = dependentCallsOf(parentType.getFields()[fieldName]?.extensions);
  const needs = declared.flatMap((calls) => {
    const { loader } = calls.options;
    const isOwn = ({ owner, request: { endpoint } }: RecordedCall) =>
      (owner === key) === (loader === undefined) &&
      (endpoint === calls.endpoint || endpoint === loader?.many?.endpoint);
    const found = recorded.filter(isOwn).length;
    const max = calls.maxOf(() => args) - found;
    return max > 0 ? { calls, max } : [];
  });
  // Without data, the length of a list is known if each item is a record that was not read.
  const isKnown = Array.isArray(value) && value.length > 0 && value.every((each) => each === null);
  const list = getNullableType(type);
  const isFlat = isListType(list) && !isList(list.ofType);
  const count = !isList(type) ? 1 : isKnown && isFlat ? value.length : Number.POSITIVE_INFINITY;
  const next = (ids: readonly number[]) => findDependents(info, { type, nodes, count, after: [...after, ...ids] });
  return needs.length > 0 ? [{ name: nameOf(info), needs, after, next }] : next([]);
}

/** Returns the dependent fields of objects, for all types that they can have. */
function findDependents(info: GraphQLResolveInfo, { type, nodes, count, after }: Objects): Dependent[] {
  const named = getNamedType(type);
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  if (!isCompositeType(named) || selectionSets.length === 0) {
    return [];
  }
  const types = isAbstractType(named) ? info.schema.getPossibleTypes(named) : [named];
  // None if a condition is invalid, because then an object of this type fails.
  const fields = types.flatMap(
    (possible) => orUndefined(() => planSelection(info, possible, selectionSets, variablesOf(info)).fields) ?? [],
  );
  return fields.flatMap(({ definition, parentType, nodes: fieldNodes, readArguments }) => {
    const needs = dependentCallsOf(definition.extensions).flatMap((calls) => {
      const max = calls.maxOf(() => readArguments(variablesOf(info)));
      return max > 0 ? { calls, max: max * count } : [];
    });
    const items = isList(definition.type) ? Number.POSITIVE_INFINITY : count;
    const objects = { type: definition.type, nodes: fieldNodes, count: items };
    const next = (ids: readonly number[]) => findDependents(info, { ...objects, after: ids });
    const name = `${parentType.name}.${definition.name}`;
    return needs.length > 0 ? [{ name, needs, after, next }] : next(after);
  });
}

const isList = (type: GraphQLOutputType): boolean => isListType(getNullableType(type));
