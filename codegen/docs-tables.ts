import type { GraphQLSchema } from 'graphql';
import { code, table } from './markdown.ts';
import { byModule, type CostlyField, listCostlyFields, listScopedFields, moduleOf } from './schema-fields.ts';

/** Returns the REST calls that a field's description names. */
export function restCallsOf({ field }: CostlyField): string[] {
  const calls = field.description?.match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}?=-]+/g) ?? [];
  return [...new Set(calls)];
}

/** Writes the table of docs/rest-calls.md: each field with its REST calls, and how many of them it makes. */
export function writeOperationsTable(schema: GraphQLSchema): string {
  const rows = byModule(listCostlyFields(schema)).map((costly) => {
    const { name, isMutation, field } = costly;
    const parameters = isMutation || field.args.length === 0 ? '' : `(${field.args.map((arg) => arg.name).join(', ')})`;
    const { calls = '1' } = field.extensions as { calls?: string };
    return [code(name + parameters), restCallsOf(costly).map(code).join(', '), calls, moduleOf(field) ?? ''];
  });
  return table(['GraphQL', 'REST', 'upstream calls', 'module'], rows);
}

/** Writes the table of docs/frontend.md: the scopes of each field. Fields of a module with the same scopes share a row. */
export function writeScopesTable(schema: GraphQLSchema): string {
  const groups = Map.groupBy(
    byModule([...listCostlyFields(schema), ...listScopedFields(schema)]),
    ({ scope = '', recordScopes, field }) =>
      [code(scope), recordScopes.map(code).join(', '), moduleOf(field) ?? ''].join(' | '),
  );
  const rows = [...groups].map(([scopes, fields]) => [fields.map(({ name }) => code(name)).join(', '), scopes]);
  return table(
    ['operation', 'required scope', 'for the record in its result', 'module'],
    rows.map(([names = '', rest = '']) => [names, ...rest.split(' | ')]),
  );
}
