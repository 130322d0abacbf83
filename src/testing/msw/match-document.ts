import type { RequestDocument } from '../../client/index.ts';
import { type Params, paramsFromBody, paramsFromQuery } from '../../http/request.ts';
import { isRecord } from '../../lib/is-record.ts';

/** Parameters of a request that sends a known document. */
export type ParamsOf<Variables> = Params & { variables: Variables };

/** Returns the parameters of a GraphQL request; undefined if it is none, or one that a gateway would reject. */
export async function readParams(request: Request): Promise<Params | undefined> {
  try {
    return request.method === 'GET'
      ? paramsFromQuery(new URL(request.url).search)
      : paramsFromBody(await request.clone().json());
  } catch {
    return undefined;
  }
}

/**
 * Creates a function that returns whether a request sends a document: by the name of its operation, or by its id.
 *
 * @throws {TypeError} if the document has neither
 */
export function createMatcher<Variables>(
  document: RequestDocument<unknown, Variables>,
): (params: Params | undefined) => params is ParamsOf<Variables> {
  const id = withoutPrefix(document.__meta__?.hash);
  const name = nameOf(document);
  if (name === undefined && id === undefined) {
    throw new TypeError('The operation has no name. Only operations with a name can be mocked.');
  }
  return (params): params is ParamsOf<Variables> => {
    const sentName = params?.operationName ?? nameIn(params?.query);
    const sentId = params && idOf(params);
    return (name !== undefined && sentName === name) || (id !== undefined && sentId === id);
  };
}

/** Returns the name of a document's operation. */
function nameOf(document: RequestDocument<unknown, never>): string | undefined {
  const definitions: unknown = Reflect.get(document, 'definitions');
  const operation = Array.isArray(definitions)
    ? definitions.find(({ kind }) => kind === 'OperationDefinition')
    : undefined;
  return operation?.name?.value ?? nameIn(document.__meta__?.text);
}

const nameIn = (text = ''): string | undefined => /\b(?:query|mutation)\s+(\w+)/.exec(text)?.[1];

/** Returns the id of a document that is sent by its id, also in the form of Apollo Client and urql. */
function idOf({ documentId, extensions }: Params): unknown {
  const persisted = extensions?.persistedQuery;
  return withoutPrefix(documentId ?? (isRecord(persisted) ? persisted.sha256Hash : undefined));
}

const withoutPrefix = (id: unknown): unknown => (typeof id === 'string' ? id.replace(/^sha256:/, '') : undefined);
