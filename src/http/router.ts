// Passes each request to the route of its path.

import type { Cors } from './cors.ts';
import { pathOf } from './head.ts';
import type { HandleRequest, IncomingRequest, OutgoingResponse } from './message.ts';
import { headOf } from './response-head.ts';

/** Route of a request for a page or one of its files; undefined for any other request. */
export type FindPage = (request: IncomingRequest) => (() => Promise<OutgoingResponse>) | undefined;

/** Exact paths, and what handles their requests. */
interface Route {
  paths: ReadonlySet<string>;
  route: HandleRequest;
}

/**
 * Creates the router. It tries the routes, then GraphiQL's page, and passes everything else to the pipeline. It answers preflights itself.
 *
 * @param routes those for AI agents and client tokens, if they are served
 */
export function createRouter(
  cors: Cors,
  findPage: FindPage,
  routes: readonly (Route | undefined)[],
  pipeline: HandleRequest,
): HandleRequest {
  const byPath = new Map(
    routes.flatMap((each) => (each ? [...each.paths].map((path) => [path, each.route] as const) : [])),
  );

  /** Adds the common headers to a response that has none. */
  async function withCommonHeaders(
    request: IncomingRequest,
    responding: OutgoingResponse | Promise<OutgoingResponse>,
  ): Promise<OutgoingResponse> {
    const response = await responding;
    return { ...response, headers: headOf(cors, request, response.headers) };
  }

  return (request) => {
    if (request.method === 'OPTIONS') {
      return withCommonHeaders(request, cors.preflight(request));
    }
    const route = byPath.get(pathOf(request));
    if (route !== undefined) {
      return route(request);
    }
    const page = findPage(request);
    return page === undefined ? pipeline(request) : withCommonHeaders(request, page());
  };
}
