import type { Cors } from './cors.ts';
import type { FindPage } from './graphiql/graphiql.ts';
import {
  type HandleRequest,
  type IncomingRequest,
  NOT_STORED,
  type OutgoingResponse,
  pathOf,
  REQUEST_ID,
  toRequestId,
} from './request.ts';

/** Handles requests that are not GraphQL requests. */
type Route = (request: IncomingRequest) => Promise<OutgoingResponse>;

/** Options of `createRouter`. */
export interface RouterOptions {
  cors: Cors;
  /** Finds GraphiQL's page and its files. */
  findPage: FindPage;
  /** Route for client tokens, with its exact paths. @default none */
  clientTokens: { paths: ReadonlySet<string>; route: Route } | undefined;
  /** Route for AI agents, with its exact paths. @default none */
  mcp: { paths: ReadonlySet<string>; route: HandleRequest } | undefined;
  pipeline: HandleRequest;
}

/** Creates the function that passes each request to the pipeline, except for preflights, GraphiQL, AI agents, and requests for client tokens. */
export function createRouter(options: RouterOptions): HandleRequest {
  const { cors, findPage, clientTokens, mcp, pipeline } = options;

  /** Adds the common headers to a response that doesn't come from the pipeline. */
  function withCommonHeaders(request: IncomingRequest, response: OutgoingResponse): OutgoingResponse {
    const corsHeaders = cors.headers(request.header('origin'), request.header('authorization'));
    const vary = [response.headers.vary, corsHeaders.vary].filter((value) => value !== undefined).join(', ');
    const headers = {
      [REQUEST_ID]: toRequestId(request.header(REQUEST_ID)),
      ...NOT_STORED,
      ...corsHeaders,
      ...response.headers,
      ...(vary !== '' && { vary }),
    };
    return { ...response, headers };
  }

  /** Returns the route of a request, or undefined for the pipeline. */
  function findRoute(request: IncomingRequest): Route | undefined {
    const path = pathOf(request);
    if (request.method === 'OPTIONS') {
      return async () => cors.preflight(request);
    }
    return findPage(request) ?? (clientTokens?.paths.has(path) ? clientTokens.route : undefined);
  }

  /** Returns the handler of a request, which adds the common headers itself. */
  const handlerOf = (request: IncomingRequest): HandleRequest =>
    mcp?.paths.has(pathOf(request)) === true ? mcp.route : pipeline;

  return (request) => {
    const route = findRoute(request);
    return route === undefined
      ? handlerOf(request)(request)
      : route(request).then((response) => withCommonHeaders(request, response));
  };
}
