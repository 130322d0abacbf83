import type { RulesByClientKind } from '../auth/client-rules.ts';
import { type CorsHeaders, respondPreflight } from './cors.ts';
import { wantsPage } from './graphiql.ts';
import { type HandleRequest, type IncomingRequest, type OutgoingResponse, pathOf } from './request.ts';
import { REQUEST_ID, toRequestId } from './request-id.ts';

/** Answers requests that are not GraphQL requests. */
type Route = (request: IncomingRequest) => Promise<OutgoingResponse>;

export interface RouterOptions {
  /** Exact path of the GraphQL endpoint. */
  endpoint: string;
  clientRules: RulesByClientKind;
  corsHeaders: CorsHeaders;
  /** The page that browsers get at the endpoint. @default none */
  graphiql: Route | undefined;
  /** Route for client tokens with its exact path. @default none */
  clientTokens: { path: string; route: Route } | undefined;
  pipeline: HandleRequest;
}

/** Passes each request to the pipeline, unless it is a preflight, a visit of GraphiQL, or a request for a client token. */
export function createRouter(options: RouterOptions): HandleRequest {
  const { endpoint, clientRules, corsHeaders, graphiql, clientTokens, pipeline } = options;

  /** Adds the headers of every response that the pipeline does not write. */
  function withCommonHeaders(request: IncomingRequest, response: OutgoingResponse): OutgoingResponse {
    const cors = corsHeaders(request.header('origin'), request.header('authorization'));
    const vary = [response.headers.vary, cors.vary].filter((value) => value !== undefined).join(', ');
    const headers = {
      [REQUEST_ID]: toRequestId(request.header(REQUEST_ID)),
      ...cors,
      ...response.headers,
      ...(vary !== '' && { vary }),
    };
    return { ...response, headers };
  }

  /** Returns the route of a request; undefined: the pipeline. */
  function findRoute(request: IncomingRequest): Route | undefined {
    if (request.method === 'OPTIONS') {
      return async () => respondPreflight(request, clientRules);
    }
    if (graphiql !== undefined && wantsPage(request) && pathOf(request) === endpoint) {
      return graphiql;
    }
    return clientTokens !== undefined && pathOf(request) === clientTokens.path ? clientTokens.route : undefined;
  }

  return (request) => {
    const route = findRoute(request);
    return route === undefined
      ? pipeline(request)
      : route(request).then((response) => withCommonHeaders(request, response));
  };
}
