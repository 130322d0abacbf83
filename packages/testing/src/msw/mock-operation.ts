// Mocks an operation, whichever client sends it.

import { type HttpHandler, HttpResponse, http, matchRequestUrl, type Path } from 'msw';
import { type Params, paramsFromBody, paramsFromQuery } from '../../../../src/http/params.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { GatewayError, RequestDocument, ResponseExtensions } from '../../../client/src/index.ts';
import { statusOf } from './gateway-error.ts';

export interface MockedRequest<Variables> {
  variables: Variables;
  /** HTTP request, for instance for its headers. */
  request: Request;
}

export type MockedResult<Result> = (
  | { data: Result; errors?: undefined }
  | { data?: Result | null; errors: readonly GatewayError[] }
) & {
  extensions?: ResponseExtensions;
};

/** Returns the result of a mocked operation, or a response of your own, such as `HttpResponse.error()`. */
export type Resolver<Result, Variables> = (
  request: MockedRequest<Variables>,
) => MockedResult<Result> | Response | Promise<MockedResult<Result> | Response>;

export interface MockOptions {
  /** Address of the gateway: a URL, a path or a pattern of msw. @default every address */
  url?: Path;
  /** Whether only the first request is answered. @default false */
  once?: boolean;
}

/** Creates a handler for msw that answers one operation. */
export type MockedOperation<Result, Variables> = (
  resolver: Resolver<Result, Variables>,
  options?: MockOptions,
) => HttpHandler;

/**
 * Returns the function that mocks an operation, whichever client sends it: with POST or GET, as text or as an id.
 *
 * @throws {TypeError} if the document has neither a name nor an id
 */
export function mockOperation<Result, Variables>(
  document: RequestDocument<Result, Variables>,
): MockedOperation<Result, Variables> {
  const isMocked = createMatcher(document);
  return (resolver, { url = '*', once = false } = {}) =>
    http.all(
      async ({ request }) => matchRequestUrl(new URL(request.url), url).matches && isMocked(await readParams(request)),
      async ({ request }) => {
        const params = await readParams(request);
        return isMocked(params)
          ? toResponse(await resolver({ variables: params.variables, request }), request)
          : undefined;
      },
      { once },
    );
}

/** Converts a result to the response that a gateway sends to this client. */
function toResponse(result: MockedResult<unknown> | Response, { headers }: Request): Response {
  if (result instanceof Response) {
    return result;
  }
  const { data, errors, extensions }: Partial<MockedResult<unknown>> = result ?? {}; // Plain JavaScript may return nothing.
  if (data === undefined && errors === undefined) {
    throw new TypeError('The resolver of a mock must return data, errors or a Response.');
  }
  const isModern = headers.get('accept')?.includes('application/graphql-response+json');
  const status = statusOf(data, errors);
  const retryAfter = Math.max(0, ...(errors ?? []).map((error) => error.extensions.retryAfterSeconds ?? 0));
  return HttpResponse.json(
    { data, errors, extensions },
    {
      status,
      headers: {
        'content-type': isModern ? 'application/graphql-response+json' : 'application/json',
        ...(status >= 400 && retryAfter > 0 && { 'retry-after': String(retryAfter) }),
      },
    },
  );
}

/** Parameters of a request that sends a known document. */
type KnownParams<Variables> = Params & { variables: Variables };

/** Returns the parameters of a GraphQL request; undefined if it is none, or one that a gateway would reject. */
async function readParams(request: Request): Promise<Params | undefined> {
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
function createMatcher<Variables>(
  document: RequestDocument<unknown, Variables>,
): (params: Params | undefined) => params is KnownParams<Variables> {
  const id = withoutPrefix(document.__meta__?.hash);
  const name = nameOf(document);
  if (name === undefined && id === undefined) {
    throw new TypeError('The operation has no name. Only operations with a name can be mocked.');
  }
  return (params): params is KnownParams<Variables> => {
    const sentName = params?.operationName ?? nameIn(params?.query);
    const sentId = params && idOf(params);
    return (name !== undefined && sentName === name) || (id !== undefined && sentId === id);
  };
}

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
