// Writes what apps and gateways get of an app's operations: typed documents, trusted documents, and mocks.

import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isNonNullType,
  isObjectType,
  parse,
  printSchema,
} from 'graphql';
import { sha256Of } from '../src/documents/manifest.ts';
import type { AppOperation } from './documents.ts';

/** Options for generating the types of results and variables. */
const OPERATION_TYPES = {
  useTypeImports: true,
  enumType: 'string-literal',
  operationResultSuffix: 'Result',
  omitOperationSuffix: true,
  defaultScalarType: 'unknown',
  scalars: {
    DateTime: 'string',
    LocalDate: 'string',
    JSON: 'unknown',
    JSONObject: 'Record<string, unknown>',
  },
} as const;

interface TypedDocumentsOptions {
  operations: readonly AppOperation[];
  schema: GraphQLSchema;
  /** Generic type of the documents, `Name<Result, Variables>`, and the module that exports it. */
  documentType: { name: string; from: string };
  /** Whether the documents include their text, for clients that can't print one. */
  hasText: boolean;
}

/**
 * Writes a module with three exports per operation: the document `<Name>Document`, and the types `<Name>Result` and `<Name>Variables`.
 * Documents are parsed. Their member `__meta__` has the hash, and the text if `hasText`.
 */
export async function writeTypedDocuments(options: TypedDocumentsOptions): Promise<string> {
  const { operations, schema, documentType, hasText } = options;
  const types = await codegen({
    schema: parse(printSchema(schema)),
    documents: operations.map(({ name, document }) => ({ location: `${name}.graphql`, document })),
    filename: 'documents.gen.ts',
    config: OPERATION_TYPES,
    plugins: [{ typescriptOperations: {} }],
    pluginMap: { typescriptOperations },
  });
  const documents = operations.map(({ name, document, text, hash }) => {
    const meta = { hash, ...(hasText && { text }) };
    const value = JSON.stringify({ ...withoutEmptyLists(document), __meta__: meta });
    return `export const ${name}Document = ${value} as unknown as ${documentType.name}<${name}Result, ${name}Variables>;\n`;
  });
  const used = types.replace(/^.*\n.* type Incremental<.*\n/m, ''); // Of @defer, which the gateway does not offer.
  const imports = `import type { ${documentType.name} } from '${documentType.from}';\n\n`;
  return `${imports}${used.trimEnd()}\n\n${documents.join('\n')}`;
}

/** Writes the types of each interface and union, which Apollo Client's cache needs to match fragments on them. */
export function writePossibleTypes(schema: GraphQLSchema): string {
  const entries = Object.values(schema.getTypeMap())
    .filter(isAbstractType)
    .map((type) => {
      const names = schema.getPossibleTypes(type).map(({ name }) => `'${name}'`);
      return `  ${type.name}: [${names.sort().join(', ')}],\n`;
    });
  const doc = "/** The types of each interface and union: `possibleTypes` of Apollo Client's `InMemoryCache`. */\n";
  return `${doc}export const possibleTypes: Record<string, string[]> = {\n${entries.join('')}};\n`;
}

/**
 * Writes the settings of normalized caches for the types of records that have no `id`, or may have none: Graphcache must know that this is intended, and Apollo
 * Client merges parts of records. Results of mutations need none.
 */
export function writeCacheSettings(schema: GraphQLSchema): string {
  const query = schema.getQueryType();
  const types = [...(query ? reachableFrom(query, schema) : [])]
    .filter((type) => type !== query && !isNonNullType(type.getFields().id?.type))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const hasId = (type: GraphQLObjectType) => 'id' in type.getFields();
  const keys = types.map((type) => `  ${type.name}: ${hasId(type) ? 'idIfAny' : 'noId'},\n`);
  const policies = types.filter((type) => !hasId(type)).map(({ name }) => `  ${name}: { merge: true },\n`);
  return `
const noId = () => null;
const idIfAny = ({ id }: { id?: unknown }) => (typeof id === 'string' ? id : null);

/** The types of records that may have no \`id\`: \`keys\` of urql's \`@urql/exchange-graphcache\`, which keeps these with the record that has them. */
export const keys: Record<string, (record: { id?: unknown }) => string | null> = {
${keys.join('')}};

/** The types without an \`id\` that are parts of records: \`typePolicies\` of Apollo Client's \`InMemoryCache\`, which then merges their fields. */
export const typePolicies: Record<string, { merge: true }> = {
${policies.join('')}};
`;
}

/** Returns the object types that the fields of a type lead to, and the type. */
function reachableFrom(type: GraphQLObjectType, schema: GraphQLSchema): Set<GraphQLObjectType> {
  const found = new Set([type]);
  // A loop over a set includes what it adds.
  for (const each of found) {
    for (const field of Object.values(each.getFields())) {
      const target = getNamedType(field.type);
      const targets = isAbstractType(target) ? schema.getPossibleTypes(target) : [target].filter(isObjectType);
      for (const other of targets) {
        found.add(other);
      }
    }
  }
  return found;
}

/** Omits empty lists, a fifth of a document. Parsers may omit them too, so no client relies on them. */
function withoutEmptyLists(document: DocumentNode): DocumentNode {
  const optional = new Set(['arguments', 'directives', 'variableDefinitions']);
  return JSON.parse(
    JSON.stringify(document, (key, value) =>
      optional.has(key) && Array.isArray(value) && value.length === 0 ? undefined : value,
    ),
  );
}

/**
 * Writes the trusted documents of an app as JSON: each text under its SHA-256 in hex.
 *
 * @param otherTexts texts that are trusted besides the printed operations
 */
export function writeManifest(operations: readonly AppOperation[], otherTexts: readonly string[] = []): string {
  const texts = [...operations.map(({ text }) => text), ...otherTexts];
  const entries = texts.map((text): [hash: string, text: string] => [sha256Of(text), text]);
  return `${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
}

/** Writes the module of `notigraph/testing/msw` with one mock per operation. */
export function writeMocks(operations: readonly AppOperation[]): string {
  const names = operations.map(({ name }) => name).sort();
  return `import * as documents from '../../../client/src/index.ts';
import { mockOperation } from './mock-operation.ts';

/** Mocks of the shipped operations, by name. */
export const mocks = {
${names.map((name) => `  ${name}: mockOperation(documents.${name}Document),\n`).join('')}};
`;
}
