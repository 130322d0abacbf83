import type { GraphQLObjectType } from 'graphql';
import { isRecord } from '../../lib/is-record.ts';
import type { GatewayContext } from '../context.ts';
import { type Entity, entityOf } from '../entity.ts';
import { badUserInput } from '../errors.ts';

/** Reference of another subgraph to a record: the name of its type and the value of a key. */
export type Representation = Readonly<Record<string, unknown>>;

/** Loads the record that a representation refers to. Returns null if it doesn't exist. */
export type ResolveReference = (representation: unknown, context: GatewayContext) => Promise<object | null>;

/** Creates the function that loads records of these types. It calls loaders immediately, so that they batch the references of a list. */
export function createResolveReference(types: readonly GraphQLObjectType[]): ResolveReference {
  const entities = new Map(
    types.flatMap((type): [string, Entity][] => {
      const entity = entityOf(type);
      return entity === undefined ? [] : [[type.name, entity]];
    }),
  );
  return async (representation, context) => {
    const { __typename: typeName, ...key } = isRecord(representation) ? representation : {};
    const entity = typeof typeName === 'string' ? entities.get(typeName) : undefined;
    if (entity === undefined) {
      throw badUserInput(`The __typename of a representation must be ${listOf([...entities.keys()])}.`);
    }
    const record = await load(entity, String(typeName), key, context);
    return record && { ...record, __typename: typeName };
  };
}

/** Loads a record by the first of its keys that the representation has. */
function load({ keys }: Entity, typeName: string, representation: Representation, context: GatewayContext) {
  for (const [field, loadByKey] of keys) {
    const value = representation[field];
    if (loadByKey !== undefined && (typeof value === 'string' || Number.isSafeInteger(value))) {
      return loadByKey(String(value), context);
    }
  }
  throw badUserInput(`A representation of ${typeName} must have ${listOf([...keys.keys()])} as a string.`);
}

const listOf = (words: readonly string[]): string => new Intl.ListFormat('en', { type: 'disjunction' }).format(words);
