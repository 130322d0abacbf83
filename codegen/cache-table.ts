import type { GraphQLSchema } from 'graphql';
import { endpointsOf } from '../src/graphql/schema.ts';
import { findEmptied } from '../src/upstream/cache/store.ts';
import { restCallsOf } from './docs-tables.ts';
import { code, table } from './markdown.ts';
import { listCostlyFields, moduleOf } from './schema-fields.ts';

/** Reads by their kind. */
const READS: Readonly<Record<string, string>> = {
  workflows: 'all workflows and notification groups',
  statistics: 'statistics',
};

/** Writes the table of docs/caching.md: the stored reads of the credential that each write empties. Those of modules are listed only if they empty some. */
export function writeInvalidationTable(schema: GraphQLSchema): string {
  const mutations = listCostlyFields(schema).filter(({ isMutation }) => isMutation);
  const rows = [...findEmptied(endpointsOf(schema))].flatMap(([{ method, route, module }, kinds]) => {
    const fields = mutations.filter((field) =>
      restCallsOf(field).some((call) => call.replace(/\?.*/, '') === `${method} ${route}`),
    );
    const [names, reads] = [fields.map(({ name }) => code(name)), kinds.map((kind) => READS[kind])];
    return method === 'GET' || (module !== undefined && reads.length === 0)
      ? []
      : [
          [
            names.join(', '),
            code(`${method} ${route}`),
            reads.join(', ') || 'none',
            fields.flatMap(({ field }) => moduleOf(field) ?? []).join(),
          ],
        ];
  });
  return table(['mutation', 'REST', 'no longer used', 'module'], rows);
}
