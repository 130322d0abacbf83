import type { RequestListener } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { type Logger, pino } from 'pino';
import { createContext, type GatewayContext, type ServerContext } from './context.ts';
import { createSchema } from './graphql/schema.ts';
import { loadOperations } from './operations.ts';
import { useAuthentication } from './plugins/use-authentication.ts';
import { useErrorModel } from './plugins/use-error-model.ts';
import { useGraphiQL } from './plugins/use-graphiql.ts';
import { useRequestId } from './plugins/use-request-id.ts';
import { createUpstreamClient } from './upstream/client.ts';
import { createDispatcher } from './upstream/dispatcher.ts';
import { probeUpstream } from './upstream/probe.ts';
import { parseUpstreamUrl } from './upstream-url.ts';
import { VERSION } from './version.ts';

/** What a gateway is made for. */
export interface GatewayOptions {
  /** The service's base address, such as `https://notifications.example.com`; may carry a path prefix. */
  upstream: URL | string;
  /** The exact path of the GraphQL endpoint. @default '/graphql' */
  endpoint?: string;
  /** Whether browsers get GraphiQL at the endpoint; with `authorization`, that header is filled in for everybody who opens it. @default false */
  graphiql?: boolean | { authorization: string };
  /** For one operation with all its upstream calls, in milliseconds. @default 15000 */
  operationTimeoutMs?: number;
  /** For one upstream call, in milliseconds. @default 6000 */
  attemptTimeoutMs?: number;
}

/** What a gateway takes from its surroundings. */
export interface GatewayDeps {
  /** @default pino on standard output */
  logger?: Logger;
  /** The current time. @default () => new Date() */
  now?: () => Date;
}

/** A gateway, ready to be mounted in a server. Whoever creates it disposes it. */
export interface Gateway extends AsyncDisposable {
  /** Answers one request: for hosts that speak the fetch API. */
  fetch(request: Request): Promise<Response>;
  /** Answers one request: for `node:http` and frameworks on top of it. */
  listener: RequestListener;
  /** The path of the GraphQL endpoint. */
  endpoint: string;
  /** Tries to reach the upstream service. @returns what is wrong, or undefined when it answers */
  checkUpstream(): Promise<string | undefined>;
  /** Closes the connections to the upstream service, when the calls that run have ended. */
  dispose(): Promise<void>;
}

/** Puts the gateway together. Throws a `TypeError` when `upstream` cannot be used as a base address. */
export function createGateway(
  {
    upstream,
    endpoint = '/graphql',
    graphiql = false,
    operationTimeoutMs = 15_000,
    attemptTimeoutMs = 6_000,
  }: GatewayOptions,
  { logger = pino(), now = () => new Date() }: GatewayDeps = {},
): Gateway {
  const baseUrl = requireUpstreamUrl(upstream);
  const dispatcher = createDispatcher(baseUrl.origin);
  const bindCaller = createUpstreamClient({ baseUrl, dispatcher, userAgent: `notigraph/${VERSION}`, attemptTimeoutMs });

  const yoga = createYoga<ServerContext, GatewayContext>({
    schema: createSchema(),
    context: createContext({ bindCaller, logger, now, operationTimeoutMs }),
    graphqlEndpoint: endpoint,
    plugins: [
      useRequestId(), // First: every other plugin may name the request.
      graphiql !== false && useGraphiQL({ endpoint, tabs: loadOperations(), headers: graphiqlHeaders(graphiql) }),
      useAuthentication(), // After the page, which needs no key; before anything of the request is parsed.
      useErrorModel({ logger }), // Sees every result, of refused requests too.
    ],
    maskedErrors: false, // useErrorModel masks.
    graphiql: false, // useGraphiQL serves it, without a CDN.
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    logging: false,
  });

  const dispose = () => dispatcher.close();
  return {
    fetch: async (request) => yoga.fetch(request, {}),
    listener: (request, response) => void yoga(request, response),
    endpoint,
    checkUpstream: () => probeUpstream(baseUrl, dispatcher),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function requireUpstreamUrl(upstream: URL | string): URL {
  const parsed = parseUpstreamUrl(String(upstream));
  if ('problem' in parsed) {
    throw new TypeError(`The upstream address ${parsed.problem}.`);
  }
  return parsed.url;
}

const graphiqlHeaders = (graphiql: true | { authorization: string }): Record<string, string> =>
  graphiql === true ? {} : { Authorization: graphiql.authorization };
