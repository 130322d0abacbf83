// Writes the generated files, or with --check fails if one is not up to date. `generate` lists them. With --released, that includes the schema of the
// release, which otherwise stays as it is.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lexicographicSortSchema } from 'graphql';
import {
  writeCacheSettings,
  writeManifest,
  writeMocks,
  writePossibleTypes,
  writeTypedDocuments,
} from './codegen/app-files.ts';
import { writeChartSchema, writeConfigSchema } from './codegen/config-schema.ts';
import {
  writeErrorCodeTable,
  writeErrorCodeType,
  writeFailureTable,
  writeInvalidationTable,
  writeOperationsTable,
  writeRestTable,
  writeScopesTable,
} from './codegen/docs-tables.ts';
import { DocumentError, loadDocuments } from './codegen/documents.ts';
import { replaceGenerated } from './codegen/markdown.ts';
import { writeEndpoints, writeRequests, writeResponses, writeTypes } from './codegen/openapi.ts';
import { loadShippedModules, writeScopes } from './codegen/schema-fields.ts';
import { writeSchemaReference } from './codegen/schema-reference.ts';
import { writeGatewayOptions, writeSettingTables } from './codegen/settings.ts';
import { loadOperations, type ShippedOperation } from './src/documents/shipped-operations.ts';
import { createSchema, printSdl } from './src/modules/schema.ts';
import inbox from './src/modules/shipped/inbox.ts';
import messages from './src/modules/shipped/messages.ts';
import workflowPages from './src/modules/shipped/workflows.ts';

/** Documents of all releases, which stay trusted. Those of this version are added with --released-documents. */
const RELEASED_DOCUMENTS = 'schema/released-documents.json';

const pathOf = (file: string): URL => new URL(file, import.meta.url);

/** A page of the docs with one table written anew. */
const pageWith = (file: string, name: string, table: string): Record<string, string> => ({
  [file]: replaceGenerated(readFileSync(pathOf(file), 'utf8'), name, table),
});

async function generate(): Promise<Record<string, string>> {
  const schema = lexicographicSortSchema(createSchema());
  const shipped = await loadShippedModules();
  const full = lexicographicSortSchema(shipped.schema);
  const operations = ['schema/operations/', 'schema/module-operations/'].flatMap((folder) =>
    loadDocuments(pathOf(folder), full),
  );
  const ofDashboard = createSchema(undefined, [inbox, messages, workflowPages]);
  const dashboard = loadDocuments(pathOf('examples/dashboard/documents/'), ofDashboard);

  const released: Record<string, string> = JSON.parse(readFileSync(pathOf(RELEASED_DOCUMENTS), 'utf8'));

  /**
   * Writes the manifest of shipped operations. People copy a whole file, or send what GraphiQL's tab shows: the file without its example. Apps that are
   * not updated send the documents of earlier releases.
   */
  function writeShippedManifest(own: readonly ShippedOperation[]): string {
    const isOwn = (name: string | undefined) => own.some((operation) => operation.name === name);
    const known = operations.filter(({ name }) => isOwn(name));
    const earlier = Object.values(released).filter((text) => isOwn(/^(?:query|mutation) (\w+)/m.exec(text)?.[1]));
    return writeManifest(known, [...known.map(({ source }) => source), ...own.map(({ query }) => query), ...earlier]);
  }

  const manifests = {
    'schema/trusted-documents.json': writeShippedManifest(loadOperations()),
    // One each, because gateways without the module can't execute its documents.
    ...Object.fromEntries(
      shipped.modules.map((each) => [
        `schema/module-documents/${each.module}.json`,
        writeShippedManifest(each.operations),
      ]),
    ),
  };
  const texts = Object.values(manifests).flatMap((manifest) => Object.values<string>(JSON.parse(manifest)));

  return {
    'src/upstream/contract/openapi.gen.ts': await writeTypes(),
    'src/upstream/contract/responses.gen.ts': writeResponses(),
    'packages/sandbox/src/requests.gen.json': writeRequests(),
    'packages/testing/src/endpoints.gen.ts': writeEndpoints(),
    'src/settings/scopes.gen.ts': writeScopes(schema),
    'schema/schema.graphql': printSdl(schema),
    ...(process.argv.includes('--released') && { 'schema/released.graphql': printSdl(full) }),
    ...(process.argv.includes('--released-documents') && { [RELEASED_DOCUMENTS]: writeManifest([], texts) }),
    'src/settings/gateway-options.gen.ts': writeGatewayOptions(),
    'schema/config.schema.json': writeConfigSchema(),
    'deploy/helm/values.schema.json': writeChartSchema(
      readFileSync(pathOf('deploy/helm/values.schema.json'), 'utf8'),
      writeConfigSchema(),
    ),
    ...pageWith('docs/settings.md', 'settings', writeSettingTables()),
    'packages/client/src/error-codes.gen.ts': writeErrorCodeType(),
    ...pageWith('docs/errors.md', 'error codes', writeErrorCodeTable()),
    ...pageWith('docs/reliability.md', 'failures', writeFailureTable()),
    'docs/schema.md': writeSchemaReference(full),
    ...pageWith('docs/rest-calls.md', 'operations', writeOperationsTable(full)),
    ...pageWith('docs/from-novu.md', 'rest', writeRestTable(full)),
    ...pageWith('docs/frontend.md', 'scopes', writeScopesTable(full)),
    ...pageWith('docs/caching.md', 'invalidation', writeInvalidationTable(full)),
    'packages/client/src/cache-settings.gen.ts': writePossibleTypes(full) + writeCacheSettings(full),
    'packages/client/src/documents.gen.ts': await writeTypedDocuments({
      operations,
      schema: full,
      documentType: { name: 'TypedDocument', from: './typed-document.ts' },
      hasText: true,
    }),
    'packages/testing/src/msw/mocks.gen.ts': writeMocks(operations),
    ...manifests,
    'examples/dashboard/src/documents.gen.ts': await writeTypedDocuments({
      operations: dashboard,
      schema: ofDashboard,
      documentType: { name: 'TypedDocumentNode', from: '@urql/core' },
      hasText: false, // The dashboard sends ids.
    }),
    'examples/dashboard/trusted-documents.json': writeManifest(dashboard),
  };
}

const GENERATED = '// Generated by codegen.ts: run "npm run codegen", do not edit.\n';

/** Writes the files that are not up to date, or names them with --check. Others follow from those in `src`, which only another process can load again. */
function update(files: Record<string, string>): void {
  let hasSources = false;
  for (const [file, content] of Object.entries(files)) {
    const text = file.endsWith('.gen.ts') ? GENERATED + content : content;
    if (existsSync(pathOf(file)) && readFileSync(pathOf(file), 'utf8') === text) {
      continue;
    }
    if (process.argv.includes('--check')) {
      console.error(`${file} is not up to date: run "npm run codegen" and commit it.`);
      process.exitCode = 1;
    } else {
      writeFileSync(pathOf(file), text);
      console.log(`wrote ${file}`);
      hasSources ||= file.startsWith('src/');
    }
  }
  if (hasSources) {
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  }
}

try {
  update(await generate());
} catch (error) {
  if (!(error instanceof DocumentError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
