import { type HttpHandler, HttpResponse, http, matchRequestUrl, type Path } from 'msw';
import type { GatewayError, RequestDocument, ResponseExtensions } from '../../client/index.ts';
import { statusOf } from './gateway-error.ts';
import { createMatcher, readParams } from './match-document.ts';

/** Request that a mock answers. */
export interface MockedRequest<Variables> {
  variables: Variables;
  /** HTTP request, for instance for its headers. */
  request: Request;
}

/** Result of a mocked operation: all of its data, or errors. */
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

/** Options of a mock. */
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
