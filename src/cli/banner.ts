import { type DocumentNode, Kind, parse } from 'graphql';
import type { RequiredScopes } from '../graphql/documents/required-scopes.ts';
import { VERSION } from '../lib/version.ts';
import { SANDBOX_KEYS } from '../sandbox/environments.ts';
import type { Scope } from '../settings/scopes.ts';
import type { Config } from './config/load-config.ts';

/** Facts about the running gateway. */
export interface BannerOptions {
  /** URL of the GraphQL endpoint. */
  url: string;
  /** Address of the separate port for health checks and metrics; undefined if they are on the same port. */
  adminUrl: string | undefined;
  /** Number of processes that serve. */
  workers: number;
  /** Operation for the printed command. */
  example: ExampleRequest | undefined;
}

/** Writes the text that is printed at startup. */
export function banner(config: Config, { url, adminUrl, workers, example }: BannerOptions): string {
  const { graphiql, sandbox, cache, clients, mcp, metrics, source } = config;
  const { store } = cache || {};
  const probes = adminUrl ?? new URL(url).origin;
  const kinds = [
    ...(clients.server === false ? [] : ['servers with a key']),
    ...(clients.browser === undefined ? [] : ['browsers with a token']),
  ];
  const service =
    sandbox === undefined
      ? listServices(config).join(`\n${' '.repeat(13)}`)
      : `built-in sandbox, ${sandbox === ':memory:' ? 'data is kept in memory' : `data is kept in ${sandbox}`}`;
  const rows = {
    GraphQL: url,
    GraphiQL: graphiql ? `${url} in a browser` : 'off (--graphiql on)',
    ...(mcp !== undefined && { Tools: `${new URL('/mcp', url).href} for AI agents` }),
    Upstream: service,
    ...(store !== undefined && { Cache: store === 'memory' ? 'in memory' : 'in Redis' }),
    Config: source ?? 'none (no notigraph.config.yaml here)',
    Workers: workers > 1 ? `${workers} processes` : store === 'memory' ? 'one process' : 'one process (--workers auto)',
    Clients: kinds.join(', ') || 'none',
    Metrics: metrics ? `${probes}/metrics` : 'off (NOTIGRAPH_METRICS=on)',
    Health: `${probes}/livez, ${probes}/readyz`,
  };
  const lines = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(11)}${value}`);
  return [`Notigraph ${VERSION}`, '', ...lines, '', ...writeExample(config, url, example), ''].join('\n');
}

/** Returns the address of the service, or the names and addresses of several. */
const listServices = ({ upstream, upstreams = {} }: Config): string[] => [
  ...(upstream === undefined ? [] : [upstream]),
  ...Object.entries(upstreams).map(([name, { url }]) => `${name}: ${url}`),
];

/** Returns the lines with a command to try, which end with an empty line; none in production. */
function writeExample(config: Config, url: string, example: ExampleRequest | undefined) {
  const { clients, clientTokens, sandbox, isProduction } = config;
  const { server, browser } = clients;
  if (isProduction || (server === false && browser === undefined)) {
    return [];
  }
  if (example === undefined) {
    return ['To try it, send the id of a trusted document as "documentId", with the variables it needs.', ''];
  }
  const key = sandbox === undefined ? '<your key>' : SANDBOX_KEYS.development;
  if (server !== false) {
    return ['Try it:', '', `  ${curl(url, `'ApiKey ${key}'`, example.body)}`, ''];
  }
  if (clientTokens === undefined || example.scopes.length === 0) {
    const issuers = browser?.issuers.map(({ issuer }) => issuer).join(' or ');
    return [
      `Try it with a token${issuers ? ` of ${issuers}` : ''}:`,
      '',
      `  ${curl(url, "'Bearer <token>'", example.body)}`,
      '',
    ];
  }
  const isTenant = Object.values(browser?.tenants ?? {}).includes(key);
  const request = JSON.stringify({ scopes: example.scopes });
  const tokens = curl(new URL('/client-tokens', url).href, `'ApiKey ${isTenant ? key : "<a tenant's key>"}'`, request);
  return [
    'Try it with a client token:',
    '',
    `  TOKEN=$(${tokens} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `  ${curl(url, '"Bearer $TOKEN"', example.body)}`,
    '',
  ];
}

/** Returns a command for a POSIX shell. */
const curl = (url: string, authorization: string, body: string): string =>
  `curl -s ${url} -H ${authorization.replace(/^(['"])/, '$1Authorization: ')} -H 'Content-Type: application/json' -d '${body.replaceAll("'", String.raw`'\''`)}'`;

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
    if (required?.missing(granted, {}).length === 0) {
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
  const { createManifestFiles } = await import('../graphql/documents/manifest.ts');
  const documents = createManifestFiles(sources)
    .manifests()
    .flatMap((manifest) => Object.entries(manifest));
  return documents.flatMap(([documentId, text]) => {
    const document = parseIfValid(text);
    return document !== undefined && isPlainQuery(document) ? [{ document, body: JSON.stringify({ documentId }) }] : [];
  });
}

async function createScopeReader(): Promise<(document: DocumentNode) => RequiredScopes | undefined> {
  const { createSchema } = await import('../graphql/schema.ts');
  const { PreparedDocuments } = await import('../graphql/documents/prepared-documents.ts');
  const documents = new PreparedDocuments(createSchema());
  return (document) => documents.of(document).operation(undefined)?.requiredScopes;
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
