// Derives the scopes that types and fields require, describes them, and finds mistakes in their declarations.

import {
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { findUnknownScopes, isScope, type Scope } from '../settings/scopes.ts';
import { entityOf } from './loaders.ts';

/** Declares the scope that a field requires, or all fields that return a type: `extensions: requireScopes('groups:read')`. */
export const requireScopes = (scope: Scope): { scope: Scope } => ({ scope });

type FieldsType = GraphQLObjectType | GraphQLInterfaceType;

const hasFields = (type: unknown): type is FieldsType => isObjectType(type) || isInterfaceType(type);

/** Returns a type with all others that its values have or can have: its interfaces, its possible types, and their interfaces. */
function relativesOf(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLNamedType[] {
  const possible = isAbstractType(type) && !('scopedByRequest' in type.extensions) ? schema.getPossibleTypes(type) : [];
  return [type, ...possible].flatMap((each) => [each, ...(hasFields(each) ? each.getInterfaces() : [])]);
}

const declaredBy = (parts: readonly { extensions: { scope?: unknown } }[]): Scope[] =>
  parts.map(({ extensions }) => extensions.scope).filter(isScope);

/** Returns the scopes that values of a type require: those of the type, of its interfaces, and of each of its possible types. */
export const scopesOfType = (schema: GraphQLSchema, type: GraphQLNamedType): readonly Scope[] => [
  ...new Set(declaredBy(relativesOf(schema, type))),
];

/**
 * Returns the scopes that a field requires: its own, those of the fields that it can stand for in interfaces and possible types, and those of the types
 * that these return. Those of its parent are required by the field that returns the parent.
 */
export function scopesOfField(schema: GraphQLSchema, parent: GraphQLNamedType, name: string): readonly Scope[] {
  const fields = relativesOf(schema, parent).flatMap((type) => (hasFields(type) ? (type.getFields()[name] ?? []) : []));
  const types = new Set(fields.map(({ type }) => getNamedType(type)));
  return [...new Set([...declaredBy(fields), ...[...types].flatMap((type) => scopesOfType(schema, type))])];
}

interface SchemaElement {
  /** Such as `Topic` or `Query.topics`. */
  path: string;
  part: GraphQLNamedType | GraphQLField<unknown, unknown>;
  parent?: FieldsType;
  scopes: readonly Scope[];
}

/** Lists the types and fields of a schema, each with the scopes that it requires. */
export const elementsOf = (schema: GraphQLSchema): SchemaElement[] =>
  Object.values(schema.getTypeMap()).flatMap((type) => {
    const fields = !hasFields(type)
      ? []
      : Object.values(type.getFields()).map((part) => {
          const { name } = part;
          return { path: `${type.name}.${name}`, part, parent: type, scopes: scopesOfField(schema, type, name) };
        });
    return [{ path: type.name, part: type, scopes: scopesOfType(schema, type) }, ...fields];
  });

/** Returns all scopes that types and fields require, sorted. */
export const scopesOf = (schema: GraphQLSchema): Scope[] =>
  [...new Set(elementsOf(schema).flatMap(({ scopes }) => scopes))].toSorted();

/** Returns the problems of scopes of browsers that no type and no field requires. @param clients the setting `clients` */
export const findScopesWithoutField = (schema: GraphQLSchema, clients: unknown) =>
  findUnknownScopes(clients, scopesOf(schema));

/** Adds the scopes to the description of every type and field that requires some. */
export function describeScopes(schema: GraphQLSchema): void {
  for (const { part, scopes } of elementsOf(schema)) {
    if (scopes.length > 0) {
      const list = scopes.map((scope) => `\`${scope}\``).join(', ');
      part.description = `${part.description ?? ''}\n\nToken scope${scopes.length === 1 ? '' : 's'}: ${list}.`;
    }
  }
}

/** Returns the name of the module that added a type, such as `Topic`, or that added a field to a type, such as `Query.topics`. */
export type ModuleOf = (path: string) => string | undefined;

/** Returns the module that adds a field to the type of another one, itself or through an interface; undefined if none does. */
export const adderOf = (moduleOf: ModuleOf, type: FieldsType, field: string): string | undefined =>
  [type, ...type.getInterfaces()]
    .map(({ name }) => ({ adder: moduleOf(`${name}.${field}`), owner: moduleOf(name) }))
    .find(({ adder, owner }) => adder !== undefined && adder !== owner)?.adder;

/**
 * Returns a problem because of which tokens could read more than intended: a scope of another form, or where none is checked, or none where one is due.
 * That is on root fields, on entities, and on fields with calls that a module adds to the type of another one.
 */
export function findScopeProblem(schema: GraphQLSchema, moduleOf: ModuleOf): string | undefined {
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const elements = elementsOf(schema);
  // A field seems to have no scope if that of its type is none.
  const wrong = elements.find(({ part }) => 'scope' in part.extensions && !isScope(part.extensions.scope));
  if (wrong !== undefined) {
    return `${wrong.path} requires the scope ${JSON.stringify(wrong.part.extensions.scope)}, which must be a scope such as groups:read, of lowercase letters and hyphens, for read, write or extra`;
  }
  for (const { path, part, parent, scopes } of elements) {
    const inputs =
      'args' in part ? part.args : isInputObjectType(part) ? [part, ...Object.values(part.getFields())] : [];
    const ignored = (isEnumType(part) ? part.getValues() : inputs).find((each) => 'scope' in each.extensions);
    if (ignored !== undefined) {
      return `${path} has a scope at ${ignored.name}, where none is checked; declare it for a field, or for the type that fields return`;
    }
    const adder = parent && adderOf(moduleOf, parent, part.name);
    const reason =
      parent === undefined
        ? entityOf(part) && 'is an entity, so _entities returns it, but requires no scope of its own'
        : roots.includes(parent)
          ? 'requires no scope'
          : adder && 'calls' in part.extensions && 'makes calls, but requires no scope of its own';
    if (reason && scopes.length === 0) {
      const [kind, target] = parent === undefined ? ['type', 'it'] : ['field', 'it or its type'];
      return `the ${kind} ${path} ${reason}; in the module ${adder ?? moduleOf(parent?.name ?? path)}, declare one for ${target}, as in extensions: requireScopes('topics:read')`;
    }
  }
  return undefined;
}
