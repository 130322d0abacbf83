// Writes tables of the docs about operations and errors.

import type { GraphQLSchema } from 'graphql';
import { ERROR_CODES, type ErrorCodeEntry } from '../src/errors/codes.ts';
import { withoutLinks } from '../src/lib/text.ts';
import { endpointsOf } from '../src/modules/schema.ts';
import { findEmptied } from '../src/upstream/endpoint.ts';
import { FAILURES, type FailureMeaning } from '../src/upstream/failures.ts';
import { code, table } from './markdown.ts';
import { listFields } from './schema-fields.ts';

/** Writes the table of docs/rest-calls.md: each field with its REST calls, and how many of them it makes. */
export function writeOperationsTable(schema: GraphQLSchema): string {
  const rows = listFields(schema)
    .filter(({ isCostly }) => isCostly)
    .map(({ name, isMutation, field, endpoints, calls, module }) => {
      const hasParameters = !isMutation && field.args.length > 0;
      const parameters = hasParameters ? `(${field.args.map((arg) => arg.name).join(', ')})` : '';
      return [code(name + parameters), endpoints.map(code).join(', '), calls, module];
    });
  return table(['GraphQL', 'REST', 'upstream calls', 'module'], rows);
}

/** Writes the table of docs/from-novu.md: each REST call with the queries and mutations that make it. */
export function writeRestTable(schema: GraphQLSchema): string {
  const calls = listFields(schema)
    .filter(({ isCostly }) => isCostly)
    .flatMap(({ name, isRoot, endpoints, module }) =>
      endpoints.map((endpoint) => ({ endpoint, name, isRoot, module })),
    );
  const pathOf = (endpoint: string) => endpoint.slice(endpoint.indexOf('/'));
  const rows = [...Map.groupBy(calls, ({ endpoint }) => endpoint.replace(/\?.*/, ''))]
    .sort(([a], [b]) => pathOf(a).localeCompare(pathOf(b)) || a.localeCompare(b))
    .map(
      ([endpoint, all]) =>
        [endpoint, all.some(({ isRoot }) => isRoot) ? all.filter(({ isRoot }) => isRoot) : all] as const,
    )
    .map(([endpoint, fields]) => [
      code(endpoint),
      fields.map(({ name }) => code(name)).join(', '),
      [...new Set(fields.map(({ module }) => module))].join(', '),
    ]);
  return table(['REST call', 'GraphQL', 'module'], rows);
}

/** Writes the table of docs/frontend.md: the scopes of each field. Fields of a module with the same scopes share a row. */
export function writeScopesTable(schema: GraphQLSchema): string {
  const groups = Map.groupBy(listFields(schema), ({ scope = '', recordScopes, module }) =>
    [code(scope), recordScopes.map(code).join(', '), module].join(' | '),
  );
  return table(
    ['operation', 'required scope', 'for the record in its result', 'module'],
    [...groups].map(([cells, fields]) => [fields.map(({ name }) => code(name)).join(', '), ...cells.split(' | ')]),
  );
}

const READS: Readonly<Record<string, string>> = {
  workflows: 'all workflows and notification groups',
  statistics: 'statistics',
};

/** Writes the table of docs/caching.md: the stored reads of the credential that each write empties. Those of modules are listed only if they empty some. */
export function writeInvalidationTable(schema: GraphQLSchema): string {
  const mutations = listFields(schema).filter(({ isMutation }) => isMutation);
  const rows = [...findEmptied(endpointsOf(schema))]
    .filter(([{ method, module }, kinds]) => method !== 'GET' && (module === undefined || kinds.length > 0))
    .map(([{ method, route }, kinds]) => {
      const endpoint = `${method} ${route}`;
      const fields = mutations.filter(({ endpoints }) =>
        endpoints.some((called) => called.replace(/\?.*/, '') === endpoint),
      );
      const reads = kinds.map((kind) => READS[kind]).join(', ') || 'none';
      const modules = new Set(fields.map(({ module }) => module));
      return [fields.map(({ name }) => code(name)).join(', '), code(endpoint), reads, [...modules].join(', ')];
    });
  const unlike = new Map(rows.map((row) => [row.join(), row])); // Two modules can declare the same endpoint.
  return table(['mutation', 'REST', 'no longer used', 'module'], [...unlike.values()]);
}

const ENTRIES: [code: string, entry: ErrorCodeEntry][] = Object.entries(ERROR_CODES);

/** Writes the codes as a type of the client, with their meaning and remedy as comments. */
export const writeErrorCodeType = (): string =>
  `/** Codes of the errors that a gateway sends. */\nexport type KnownErrorCode =${ENTRIES.map(
    ([name, { meaning, remedy }]) => `\n  /** ${withoutLinks(meaning)} ${withoutLinks(remedy)} */\n  | '${name}'`,
  ).join('')};\n`;

/** Writes the table of docs/reliability.md: what each kind of failed call means. */
export function writeFailureTable(): string {
  const repeated = { always: 'always', repeatable: 'yes', never: '' };
  const rows = Object.values<FailureMeaning>(FAILURES).map(
    ({ when, statuses = [], retry = 'never', outcome = 'NOT_APPLIED', isOutage = false, ...meaning }) => [
      statuses.map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`)).join(', '),
      when,
      code(meaning.code),
      repeated[retry],
      outcome === 'UNKNOWN' ? 'perhaps' : 'no',
      isOutage ? 'yes' : '',
    ],
  );
  return table(['status', 'when', '`code`', 'repeated', 'write applied', 'outage'], rows);
}

export const writeErrorCodeTable = (): string =>
  table(
    ['`code`', 'status', 'meaning', 'what to do'],
    ENTRIES.map(([name, { status, meaning, remedy }]) => [code(name), String(status ?? ''), meaning, remedy]),
  );
