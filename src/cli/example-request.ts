import { type DocumentNode, Kind, parse } from 'graphql';
import type { RequiredScopes } from '../graphql/documents/required-scopes.ts';
import type { Scope } from '../settings/scopes.ts';
import type { Config } from './config/create-config.ts';

/** Operation that works with the current settings, to be sent by a person. */
export interface ExampleRequest {
  /** Body of the request, as JSON. */
  body: string;
  /** Scopes that a token needs for it. */
  scopes: readonly Scope[];
}

const GROUPS = '{ notificationGroups { id name } }';
const TYPE = '{ __typename }';

/** Finds a query without variables that the first kind of client that is served can send; undefined if no trusted document is one. */
export async function findExampleRequest({ clients, trustedDocuments }: Config): Promise<ExampleRequest | undefined> {
  const { server, browser } = clients;
  const granted = server === false ? new Set(browser?.scopes) : undefined;
  const mode = (server || browser)?.trustedDocuments;
  const candidates =
    mode === 'enforce' ? await readTrustedDocuments(trustedDocuments.manifests) : [GROUPS, TYPE].map(ofText);
  if (granted === undefined) {
    const [first] = candidates;
    return first && { body: first.body, scopes: [] };
  }
  const readScopes = await createScopeReader();
  for (const { document, body } of candidates) {
    const required = readScopes(document);
    if (required.missing(granted, {}).length === 0) {
      return { body, scopes: required.missing(new Set(), {}) };
    }
  }
  return undefined;
}

interface Candidate {
  document: DocumentNode;
  body: string;
}

const ofText = (query: string): Candidate => ({ document: parse(query), body: JSON.stringify({ query }) });

// Loaded on demand, because a primary process has no gateway and most configurations don't need these.

async function readTrustedDocuments(sources: Config['trustedDocuments']['manifests']): Promise<Candidate[]> {
  const { createManifestFiles } = await import('../graphql/documents/manifest-files.ts');
  const documents = createManifestFiles(sources)
    .manifests()
    .flatMap((manifest) => Object.entries(manifest));
  return documents.flatMap(([documentId, text]) => {
    const document = parseIfValid(text);
    return document !== undefined && isPlainQuery(document) ? [{ document, body: JSON.stringify({ documentId }) }] : [];
  });
}

async function createScopeReader(): Promise<(document: DocumentNode) => RequiredScopes> {
  const { createSchema } = await import('../graphql/schema.ts');
  const { createReadRequiredScopes } = await import('../graphql/documents/required-scopes.ts');
  const readRequiredScopes = createReadRequiredScopes(createSchema());
  return (document) => readRequiredScopes(document, undefined);
}

function parseIfValid(text: string): DocumentNode | undefined {
  try {
    return parse(text, { noLocation: true });
  } catch {
    return undefined; // A request for it is rejected. Other documents work.
  }
}

/** Whether a document is a single query that needs no variables. */
function isPlainQuery({ definitions }: DocumentNode): boolean {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [first] = operations;
  const isOptional = first?.variableDefinitions?.every(
    ({ type, defaultValue }) => type.kind !== Kind.NON_NULL_TYPE || defaultValue !== undefined,
  );
  return operations.length === 1 && first?.operation === 'query' && isOptional !== false;
}
