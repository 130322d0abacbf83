import type { GraphQLSchema } from 'graphql';
import { WRITE_EFFECTS } from '../src/upstream/cache/write-effects.ts';
import { restCallsOf } from './docs-tables.ts';
import { code, table } from './markdown.ts';
import { listCostlyFields } from './schema-fields.ts';

/** Values of all parameters in paths, in place of ids. */
const PARAMS = { id: 'x', workflowId: 'x' };

/** Reads by their tag. */
const READS: Readonly<Record<string, string>> = {
  groups: 'the list of groups',
  'group:x': 'this group',
  workflows: 'all workflows',
  'workflow:x': 'this workflow, by its id and its identifiers',
  statistics: 'statistics',
};

/**
 * Writes the table of docs/caching.md: the stored reads that each write invalidates.
 *
 * @throws {Error} if a read has no name here
 */
export function writeInvalidationTable(schema: GraphQLSchema): string {
  const mutations = listCostlyFields(schema).filter(({ isMutation }) => isMutation);
  const rows = Object.entries(WRITE_EFFECTS).map(([endpoint, effect]) => {
    const names = mutations.flatMap((field) =>
      restCallsOf(field).some((call) => call.replace(/\?.*/, '') === endpoint) ? [code(field.name)] : [],
    );
    return [
      names.join(', '),
      code(endpoint),
      effect === undefined ? 'none' : effect.tags(PARAMS).map(nameOf).join(', '),
    ];
  });
  return table(['mutation', 'REST', 'no longer used'], rows);
}

function nameOf(tag: string): string {
  const name = READS[tag];
  if (name === undefined) {
    throw new Error(`codegen/cache-table.ts has no name for ${tag}.`);
  }
  return name;
}
