import type { GraphQLSchema } from 'graphql';
import { WRITE_EFFECTS } from '../src/upstream/cache/effects.ts';
import type { CachedKind } from '../src/upstream/cache/store.ts';
import { restCallsOf } from './docs-tables.ts';
import { code, table } from './markdown.ts';
import { listCostlyFields } from './schema-fields.ts';

/** Reads by their kind. */
const READS: Readonly<Record<CachedKind, string>> = {
  workflows: 'all workflows and notification groups',
  statistics: 'statistics',
};

/** Writes the table of docs/caching.md: the stored reads of the credential that each write empties. */
export function writeInvalidationTable(schema: GraphQLSchema): string {
  const mutations = listCostlyFields(schema).filter(({ isMutation }) => isMutation);
  const rows = Object.entries(WRITE_EFFECTS).map(([endpoint, kinds]) => {
    const names = mutations.flatMap((field) =>
      restCallsOf(field).some((call) => call.replace(/\?.*/, '') === endpoint) ? [code(field.name)] : [],
    );
    return [names.join(', '), code(endpoint), kinds.map((kind) => READS[kind]).join(', ') || 'none'];
  });
  return table(['mutation', 'REST', 'no longer used'], rows);
}
