import type { GraphQLObjectType } from 'graphql';
import { listAny } from '../../settings/setting.ts';
import type { GatewayContext } from '../context.ts';
import { type Entity, entityOf } from '../entity.ts';
import { badUserInput } from '../field-errors.ts';
import type { MaySeeSchema } from './schema-access.ts';

/** Reference of another subgraph to a record: the name of its type and the value of a key. */
export type Representation = Readonly<Record<string, unknown>>;

/** Loads the record that a representation refers to. Returns null if it doesn't exist. */
export type ResolveReference = (representation: Representation, context: GatewayContext) => Promise<object | null>;

/**
 * Creates the function that loads records of these types. It calls loaders immediately, so that they batch the references of a list.
 *
 * @param maySeeSchema whether errors tell a caller the names of types and keys
 */
export function createResolveReference(
  types: readonly GraphQLObjectType[],
  maySeeSchema: MaySeeSchema,
): ResolveReference {
  const entities = new Map(
    types.flatMap((type): [string, Entity][] => {
      const entity = entityOf(type);
      return entity === undefined ? [] : [[type.name, entity]];
    }),
  );

  /** Creates the error of an invalid representation. Names the valid choices. */
  const invalid = (problem: string, choices: Iterable<string>, context: GatewayContext) =>
    badUserInput(maySeeSchema(context) ? `${problem}: ${listAny(choices)}.` : `${problem}.`);

  return async (representation, context) => {
    const { __typename: typeName } = representation;
    const entity = typeof typeName === 'string' ? entities.get(typeName) : undefined;
    if (entity === undefined) {
      throw invalid('A representation must have the __typename of a resolvable entity', entities.keys(), context);
    }
    const found = findKey(entity, representation);
    if (found === undefined) {
      throw invalid(`A representation of ${typeName} must have a key as a string`, entity.keys.keys(), context);
    }
    const record = await found.load(found.key, context);
    return record && { ...record, __typename: typeName };
  };
}

/** Returns the first key of an entity that a representation has, and the function that loads the record by it. */
function findKey({ keys }: Entity, representation: Representation) {
  for (const [field, load] of keys) {
    const value = representation[field];
    if (load !== undefined && (typeof value === 'string' || Number.isSafeInteger(value))) {
      return { key: String(value), load };
    }
  }
  return undefined;
}
