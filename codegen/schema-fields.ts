import { type GraphQLField, type GraphQLSchema, getNamedType, isObjectType, isUnionType } from 'graphql';
import { findScopeProblem, scopesOf } from '../src/graphql/scopes.ts';

/** A field that can cost upstream calls. */
export interface CostlyField {
  /** `createFeed` for root fields, `Workflow.notificationGroup` for others. */
  name: string;
  isMutation: boolean;
  field: GraphQLField<unknown, unknown>;
  /** The scope that the field requires. */
  scope: string | undefined;
  /** The scopes that the records in the field's result require, where they are members of a result. */
  recordScopes: string[];
}

const scopeOf = ({ extensions }: { extensions: { scope?: unknown } }): string | undefined =>
  typeof extensions.scope === 'string' ? extensions.scope : undefined;

type Part = { extensions: { module?: unknown } };

/** Returns the shipped module that adds a type or field. @returns undefined for the built-in ones */
export const moduleOf = ({ extensions }: Part): string | undefined =>
  typeof extensions.module === 'string' ? extensions.module : undefined;

/** Sorts fields by their modules: those of none first. */
export const byModule = <Field extends { field: Part }>(fields: readonly Field[]): Field[] =>
  fields.toSorted((a, b) => (moduleOf(a.field) ?? '').localeCompare(moduleOf(b.field) ?? ''));

/** Returns the root fields, and the fields of records that lead to other records. */
export function listCostlyFields(schema: GraphQLSchema): CostlyField[] {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const records = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && scopeOf(type) !== undefined,
  );
  return [...roots, ...records].filter(isObjectType).flatMap((parent) =>
    Object.values(parent.getFields()).flatMap((field): CostlyField[] => {
      const isRoot = roots.includes(parent);
      const type = getNamedType(field.type);
      if (!isRoot && scopeOf(type) === undefined) {
        return [];
      }
      const scope = scopeOf(field) ?? scopeOf(type);
      return [
        {
          name: isRoot ? field.name : `${parent.name}.${field.name}`,
          isMutation: parent === schema.getMutationType(),
          field,
          scope,
          recordScopes: [...new Set(collectRecordScopes(type))].filter((record) => record !== scope),
        },
      ];
    }),
  );
}

/** Returns the fields, except root fields, that require a scope of their own. */
export function listScopedFields(schema: GraphQLSchema): Omit<CostlyField, 'isMutation'>[] {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const parts = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !roots.includes(type));
  return parts.filter(isObjectType).flatMap((parent) =>
    Object.values(parent.getFields()).flatMap((field) => {
      const scope = scopeOf(field);
      return scope === undefined ? [] : [{ name: `${parent.name}.${field.name}`, field, scope, recordScopes: [] }];
    }),
  );
}

/** Collects the scopes of the records in a mutation's result, through its union or payload. */
function collectRecordScopes(type: ReturnType<typeof getNamedType>): string[] {
  const results = isUnionType(type) ? type.getTypes() : isObjectType(type) && scopeOf(type) === undefined ? [type] : [];
  return results
    .flatMap((result) => Object.values(result.getFields()))
    .map((field) => getNamedType(field.type))
    .flatMap((inner) => scopeOf(inner) ?? (isUnionType(inner) ? collectRecordScopes(inner) : []));
}

/**
 * Returns every scope that a type or field requires, sorted.
 *
 * @throws {Error} if one has another form, or a root field has none
 */
export function listScopes(schema: GraphQLSchema): string[] {
  const problem = findScopeProblem(schema, () => 'built-in');
  if (problem !== undefined) {
    throw new Error(problem);
  }
  return scopesOf(schema);
}
