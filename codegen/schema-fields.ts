// Builds the schema with all shipped modules, and lists the fields of a schema that cost upstream calls or require scopes.

import { type GraphQLField, type GraphQLSchema, getNamedType, isObjectType, isUnionType } from 'graphql';
import { loadModules } from '../packages/cli/src/config/load-modules.ts';
import { loadOperations } from '../src/documents/shipped-operations.ts';
import { elementsOf, findScopeProblem, scopesOf } from '../src/graphql/scopes.ts';
import { createSchema } from '../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../src/modules/shipped.ts';

/**
 * Builds the schema with all shipped modules. The extensions of each type and field that one of them adds name it; see `moduleOf`.
 *
 * @returns also the modules, by the last part of their names in configurations, with their operations
 */
export async function loadShippedModules() {
  const loaded = await loadModules({ modules: [...SHIPPED_MODULES] });
  const schema = createSchema(undefined, loaded);
  const builtIn = new Set(elementsOf(createSchema()).map(({ path }) => path));
  const known = new Set(loadOperations().map(({ name }) => name));
  const modules = loaded.map((added, i) => {
    const module = SHIPPED_MODULES[i]?.split('/').at(-1) ?? added.name;
    const own = createSchema(undefined, [added]);
    const paths = new Set(elementsOf(own).map(({ path }) => path));
    for (const { part } of elementsOf(schema).filter(({ path }) => paths.has(path) && !builtIn.has(path))) {
      part.extensions = { ...part.extensions, module };
    }
    return { module, operations: loadOperations(own).filter(({ name }) => !known.has(name)) };
  });
  return { schema, modules };
}

/** A field that can cost upstream calls, or requires a scope of its own. */
export interface SchemaField {
  /** `createFeed` for root fields, `Workflow.notificationGroup` for others. */
  name: string;
  isRoot: boolean;
  isMutation: boolean;
  /** Whether it is a root field, or makes calls of its own. */
  isCostly: boolean;
  field: GraphQLField<unknown, unknown>;
  scope: string | undefined;
  /** The scopes that the records in the field's result require, where they are members of a result. */
  recordScopes: string[];
  /** Maximum number of upstream calls, as text. */
  calls: string;
  /** Endpoints that the field calls, with their parameters. */
  endpoints: string[];
  /** The shipped module that adds the field; empty for built-in ones. */
  module: string;
}

interface Part {
  extensions: { scope?: unknown; calls?: unknown; module?: unknown };
}

const textOr = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);

const scopeOf = ({ extensions }: Part): string | undefined => textOr(extensions.scope, '') || undefined;

/** Returns the shipped module that adds a type or field, or an empty text. */
const moduleOf = ({ extensions }: Part): string => textOr(extensions.module, '');

/** Lists the fields: those of no module first, and in each those that cost calls first. */
export function listFields(schema: GraphQLSchema): SchemaField[] {
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null);
  const others = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !roots.includes(type));
  const fields = [...roots, ...others].filter(isObjectType).flatMap((parent) =>
    Object.values(parent.getFields()).map((field): SchemaField => {
      const isRoot = roots.includes(parent);
      const type = getNamedType(field.type);
      const isCostly = isRoot || 'calls' in field.extensions;
      const scope = scopeOf(field) ?? (isCostly ? scopeOf(type) : undefined);
      return {
        name: isRoot ? field.name : `${parent.name}.${field.name}`,
        isRoot,
        isMutation: parent === schema.getMutationType(),
        isCostly,
        field,
        scope,
        recordScopes: [...new Set(collectRecordScopes(type))].filter((record) => record !== scope),
        calls: textOr(field.extensions.calls, '1'),
        endpoints: [...new Set(field.description?.match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}?=-]+/g))],
        module: moduleOf(field),
      };
    }),
  );
  return fields
    .filter(({ isCostly, scope }) => isCostly || scope !== undefined)
    .sort((a, b) => a.module.localeCompare(b.module) || Number(b.isCostly) - Number(a.isCostly));
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
 * Returns a module with every scope that a type or field requires, sorted.
 *
 * @throws {Error} if one has another form, or a root field has none
 */
export function writeScopes(schema: GraphQLSchema): string {
  const problem = findScopeProblem(schema, () => 'built-in');
  if (problem !== undefined) {
    throw new Error(problem);
  }
  const scopes = scopesOf(schema).map((scope) => `  '${scope}',\n`);
  return `/** The scopes of all types and fields. */\nexport const SCOPES = [\n${scopes.join('')}] as const;\n`;
}
