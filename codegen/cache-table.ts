import type { GraphQLSchema } from 'graphql';
import { endpointsOf } from '../src/graphql/schema.ts';
import { findEmptied } from '../src/upstream/cache/cache-rules.ts';
import { CONTRACT } from '../src/upstream/endpoints.ts';
import { restCallsOf } from './docs-tables.ts';
import { code, table } from './markdown.ts';
import { listCostlyFields } from './schema-fields.ts';

/** Reads by their kind. */
const READS: Readonly<Record<string, string>> = {
  workflows: 'all workflows and notification groups',
  statistics: 'statistics',
};

/** Writes the table of docs/caching.md: the stored reads of the credential that each write empties. */
export function writeInvalidationTable(schema: GraphQLSchema): string {
  const mutations = listCostlyFields(schema).filter(({ isMutation }) => isMutation);
  const writes = CONTRACT.filter(({ method }) => method !== 'GET');
  const emptied = findEmptied(endpointsOf(schema));
  const rows = writes.map((write) => {
    const { method, route } = write;
    const endpoint = `${method} ${route}`;
    const names = mutations.flatMap((field) =>
      restCallsOf(field).some((call) => call.replace(/\?.*/, '') === endpoint) ? [code(field.name)] : [],
    );
    return [
      names.join(', '),
      code(endpoint),
      emptied
        .get(write)
        ?.map((kind) => READS[kind])
        .join(', ') || 'none',
    ];
  });
  return table(['mutation', 'REST', 'no longer used'], rows);
}
