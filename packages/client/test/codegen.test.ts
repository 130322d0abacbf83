import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gql, InMemoryCache } from '@apollo/client';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { formatDocument } from '@urql/core';
import { type DocumentNode, isScalarType, isSpecifiedScalarType, parse, print } from 'graphql';
import { expect, it } from 'vitest';
import { writeManifest, writeTypedDocuments } from '../../../codegen/app-files.ts';
import { DocumentError, loadDocuments } from '../../../codegen/documents.ts';
import { sha256Of } from '../../../src/documents/manifest.ts';
import { loadOperations } from '../../../src/documents/shipped-operations.ts';
import { createSchema, printSdl } from '../../../src/modules/schema.ts';
import { blocks, read } from '../../../test/support/docs.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';

const schema = createSchema();

/** Returns what codegen reads from an app's files. */
async function load(files: Record<string, string>) {
  await using folder = await createTemporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(folder.path(file)), { recursive: true });
    await writeFile(folder.path(file), text);
  }
  return loadDocuments(pathToFileURL(folder.path('/')), schema);
}

/** Returns the text that urql's cache sends for a document. */
const textOfUrql = (document: DocumentNode): string => print(JSON.parse(JSON.stringify(formatDocument(document))));

const FRAGMENTS = {
  'group.graphql':
    'fragment GroupFields on NotificationGroup { id ...GroupName }\nfragment GroupName on NotificationGroup { name }',
  'queries.graphql': `
    # Two operations in a file.
    query Groups { notificationGroups { ...GroupFields } }
    query Names($id: ID!, $tags: Boolean! = true) {
      workflow(idOrIdentifier: $id) { __typename tags @include(if: $tags) group: notificationGroup { ...GroupName } }
    }
  `,
  'README.md': 'no document',
};

it('an operation includes the fragments that it uses, from any file, and __typename in every selection', async () => {
  const operations = await load(FRAGMENTS);

  expect(operations.map(({ name, source, text }) => ({ name, source, text }))).toEqual([
    {
      name: 'Groups',
      source: FRAGMENTS['queries.graphql'],
      text: `query Groups {
  notificationGroups {
    ...GroupFields
    __typename
  }
}

fragment GroupFields on NotificationGroup {
  id
  ...GroupName
  __typename
}

fragment GroupName on NotificationGroup {
  name
  __typename
}`,
    },
    {
      name: 'Names',
      source: FRAGMENTS['queries.graphql'],
      text: `query Names($id: ID!, $tags: Boolean! = true) {
  workflow(idOrIdentifier: $id) {
    __typename
    tags @include(if: $tags)
    group: notificationGroup {
      ...GroupName
      __typename
    }
  }
}

fragment GroupName on NotificationGroup {
  name
  __typename
}`,
    },
  ]);
});

it('the caches of urql and Apollo Client add nothing to the generated documents', async () => {
  const shipped = Object.fromEntries(loadOperations().map(({ name, query }) => [`${name}.graphql`, query]));
  const own = await load(FRAGMENTS);
  const operations = await load(shipped);
  for (const { text, document } of [...operations, ...own]) {
    expect(textOfUrql(structuredClone(document))).toBe(text);
    expect(print(new InMemoryCache().transformDocument(document))).toBe(text);
  }
  // The result is the same for the file and for the typed document.
  for (const { name, query } of loadOperations()) {
    const text = operations.find((operation) => operation.name === name)?.text;
    expect(textOfUrql(parse(query))).toBe(text);
    expect(print(new InMemoryCache().transformDocument(gql(query)))).toBe(text);
  }
});

it('the manifest lists each text under its hash, sorted, and on request also the unprocessed texts of the files', async () => {
  const operations = await load(FRAGMENTS);
  const texts = operations.map(({ text }) => text);

  const manifest: Record<string, string> = JSON.parse(writeManifest(operations, []));
  expect(Object.keys(manifest)).toEqual(texts.map(sha256Of).toSorted());
  expect(Object.values(manifest).toSorted()).toEqual(texts.toSorted());
  expect(operations.map(({ hash }) => manifest[hash])).toEqual(texts);

  const forPeople: Record<string, string> = JSON.parse(
    writeManifest(
      operations,
      operations.map(({ source }) => source),
    ),
  );
  expect(Object.values(forPeople)).toEqual(expect.arrayContaining([...texts, FRAGMENTS['queries.graphql']]));
});

it('the typed documents are deterministic and contain their text only if configured', async () => {
  const documentType = { name: 'TypedDocumentNode', from: '@urql/core' };
  const write = async (hasText: boolean) => {
    const operations = await load(FRAGMENTS);
    return writeTypedDocuments({ operations, schema, documentType, hasText });
  };

  const code = await write(false);

  expect(await write(false)).toBe(code);
  expect(code).toMatch(/^import type \{ TypedDocumentNode \} from '@urql\/core';\n/);
  expect(code).toContain('as unknown as TypedDocumentNode<GroupsResult, GroupsVariables>;\n');
  expect(code).toMatch(/export const NamesDocument = \{"kind":"Document",.*"__meta__":\{"hash":"[0-9a-f]{64}"\}\} as /);
  expect(code).not.toMatch(/"loc"|\[\]/);
  expect(await write(true)).toMatch(/"__meta__":\{"hash":"[0-9a-f]{64}","text":"query Groups \{/);
});

it.each([
  [
    'a syntax error',
    { 'a.graphql': 'query A {\n  notificationGroups {' },
    'a.graphql:2:23: Syntax Error: Expected Name, found <EOF>.',
  ],
  [
    'an unknown field in a fragment of another file',
    {
      'a.graphql': 'query A { notificationGroups { ...F } }',
      'f.graphql': 'fragment F on NotificationGroup { nothing }',
    },
    'f.graphql:1:35: Cannot query field "nothing" on type "NotificationGroup".',
  ],
  [
    'an anonymous operation',
    { 'a.graphql': '{ notificationGroups { name } }' },
    'a.graphql has an operation without a name.',
  ],
])('%s stops codegen with one sentence', async (_title, files, sentence) => {
  await expect(load(files)).rejects.toThrow(new DocumentError(sentence));
});

it('with the scalars of docs/client.md, no scalar is unknown to an app’s code generator, and without them they are', async () => {
  const block = blocks(read('docs/client.md'), 'json').find((text) => text.includes('scalars')) ?? '{}';
  const { config } = JSON.parse(block);
  const generate = (options: object) =>
    codegen({
      schema: parse(printSdl(schema)),
      documents: [{ document: parse('query W { workflow(idOrIdentifier: "a") { createdAt data } }') }],
      filename: 'graphql.ts',
      config: options,
      plugins: [{ typescriptOperations: {} }],
      pluginMap: { typescriptOperations },
    });

  expect(await generate({})).toMatch(/createdAt: unknown/);
  expect(await generate(config)).toMatch(/createdAt: string \| null, data: Record<string, unknown> \| null/);
  const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
  expect(Object.keys(config.scalars).toSorted()).toEqual(own.map(({ name }) => name).toSorted());
});
