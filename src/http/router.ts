// Passes each request to the route of its path.

import type { Cors } from './cors.ts';
import type { FindPage } from './graphiql/graphiql.ts';
import { pathOf } from './head.ts';
import type { HandleRequest, IncomingRequest, OutgoingResponse } from './message.ts';

/** Exact paths, and what handles their requests. */
interface Route {
  paths: ReadonlySet<string>;
  route: HandleRequest;
}

/**
 * Creates the router. It tries the routes for AI agents and client tokens, then GraphiQL's page, and passes everything else to the pipeline.
 * It answers preflights itself.
 */
export function createRouter(
  cors: Cors,
  findPage: FindPage,
  { mcp, clientTokens, pipeline }: { mcp: Route | undefined; clientTokens: Route | undefined; pipeline: HandleRequest },
): HandleRequest {
  /** Adds the common headers to a response that has none. */
  async function withCommonHeaders(
    request: IncomingRequest,
    responding: OutgoingResponse | Promise<OutgoingResponse>,
  ): Promise<OutgoingResponse> {
    const response = await responding;
    return { ...response, headers: cors.headers(request, response.headers) };
  }

  return (request) => {
    const path = pathOf(request);
    if (request.method === 'OPTIONS') {
      return withCommonHeaders(request, cors.preflight(request));
    }
    if (mcp?.paths.has(path)) {
      return mcp.route(request);
    }
    if (clientTokens?.paths.has(path)) {
      return clientTokens.route(request);
    }
    const page = findPage(request);
    return page === undefined ? pipeline(request) : withCommonHeaders(request, page());
  };
}
