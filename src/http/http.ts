// Answers requests: passes each to the route of its path, from hosts with the interface of Node.js or the Fetch API.

import { createFetchHandler } from './adapters/fetch-adapter.ts';
import { createListener, createRequestReader } from './adapters/node-adapter.ts';
import { pathOf } from './head.ts';
import {
  type HandleRequest,
  type IncomingRequest,
  type OutgoingResponse,
  type Route,
  RunningRequests,
} from './message.ts';
import { createClientTokenRoute } from './pipeline/client-token-route.ts';
import { createParts, type HttpDeps } from './pipeline/parts.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { createRespond } from './pipeline/respond.ts';

/** Route of a request for a page or one of its files; undefined for any other request. */
export type FindPage = (request: IncomingRequest) => (() => Promise<OutgoingResponse>) | undefined;

export type Http = ReturnType<typeof createHttp>;

/** Creates the pipeline of the GraphQL endpoint, and what other routes share with it. */
export function createHttp(deps: HttpDeps) {
  const parts = createParts(deps);
  const { settings, headOf, preflight } = parts;
  const respond = createRespond(parts);
  const pipeline = createPipeline(parts, respond);
  const running = new RunningRequests();

  /** Adds the common headers to a response that has none. */
  async function withHead(request: IncomingRequest, responding: OutgoingResponse | Promise<OutgoingResponse>) {
    const response = await responding;
    return { ...response, headers: headOf(request, response.headers) };
  }

  /** Tries the routes, then GraphiQL's page, and passes everything else to the pipeline. Answers preflights. */
  function createRouter(routes: readonly (Route | undefined)[], findPage: FindPage): HandleRequest {
    const byPath = new Map(
      routes.flatMap((each) => (each ? [...each.paths].map((path) => [path, each.route] as const) : [])),
    );
    return (request) => {
      if (request.method === 'OPTIONS') {
        return withHead(request, preflight(request));
      }
      const route = byPath.get(pathOf(request));
      if (route !== undefined) {
        return route(request);
      }
      const page = findPage(request);
      return page === undefined ? pipeline(request) : withHead(request, page());
    };
  }

  return {
    ...parts,
    pipeline,
    respond,
    running,
    /** Returns the functions with which a host passes requests. @param mcp route for AI agents, if there are tools */
    open(mcp: Route | undefined, findPage: FindPage) {
      const handle = createRouter([mcp, createClientTokenRoute(parts)], findPage);
      return {
        fetch: createFetchHandler(handle, running),
        listener: createListener(handle, running),
        isPage: createRequestReader((request) => settings.graphiql !== false && findPage(request) !== undefined),
        refusalHeaders: createRequestReader((request) => headOf(request)),
      };
    },
  };
}
