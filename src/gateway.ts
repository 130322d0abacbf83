import type { RequestListener } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { type Logger, pino } from 'pino';
import { contextOfRequest, createContextFactory, type GatewayContext, type ServerContext } from './context.ts';
import { createSchema } from './graphql/schema.ts';
import { type MetricFigures, toText } from './metrics/figures.ts';
import { createGatewayMetrics } from './metrics/gateway-metrics.ts';
import { loadOperations } from './operations.ts';
import { type AccessLog, createAccessLog } from './plugins/access-log.ts';
import { createCheckDocument } from './plugins/check-document.ts';
import { createClientErrors } from './plugins/client-errors.ts';
import type { DocumentLimits } from './plugins/document-limits.ts';
import { useAccessLog } from './plugins/use-access-log.ts';
import { useAuthentication } from './plugins/use-authentication.ts';
import { createCorsHeaders, useCors } from './plugins/use-cors.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useErrorModel } from './plugins/use-error-model.ts';
import { useGraphiQL } from './plugins/use-graphiql.ts';
import { useRequestBody } from './plugins/use-request-body.ts';
import { useRequestGate } from './plugins/use-request-gate.ts';
import { useRequestId } from './plugins/use-request-id.ts';
import { createPreparedOperations } from './prepared/prepared-operations.ts';
import { servePrepared } from './prepared/serve-prepared.ts';
import { createUpstreamClient, type UpstreamOptions } from './upstream/client.ts';
import { createDispatcher, type DispatcherOptions } from './upstream/dispatcher.ts';
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
  /** Exact origins whose pages may call the gateway from a browser. @default none */
  corsOrigins?: readonly string[];
  /** Whether clients may ask for the schema. @default true */
  introspection?: boolean;
  /** How large a document may be. */
  documents?: DocumentLimits;
  /** The largest request body, in bytes. @default 256 KiB */
  maxBodyBytes?: number;
  /** For one operation with all its upstream calls, in milliseconds. @default 15000 */
  operationTimeoutMs?: number;
  /** How often an operation is asked for before it is compiled; 0: it is compiled at once. @default 3 */
  compileAfter?: number;
  /** How the upstream is called: times, retries, breaker, concurrency, limits. */
  policies?: Omit<UpstreamOptions, 'baseUrl' | 'dispatcher' | 'userAgent' | 'observer'>;
  /** The connections to the upstream. */
  connections?: DispatcherOptions;
  /** Makes a tenant's name in the log the same over restarts and replicas. @default a new one for each gateway */
  logSecret?: string;
  /** Whether operations and requests to the service are counted. @default true */
  metrics?: boolean;
}

/** What a gateway takes from its surroundings. */
export interface GatewayDeps {
  /** @default pino on standard output, warnings and errors alone: no line for every operation */
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
  /** What was counted so far, in Prometheus' text format; empty with `metrics: false`. */
  metrics(): Promise<string>;
  /** The same as plain data: to be sent to another process, or printed together with other figures. */
  figures(): MetricFigures[];
  /** Closes the connections to the upstream service, when the calls that run have ended. */
  dispose(): Promise<void>;
}

/** Puts the gateway together. Throws a `TypeError` when `upstream` cannot be used as a base address. */
export function createGateway(
  {
    upstream,
    endpoint = '/graphql',
    graphiql = false,
    corsOrigins = [],
    introspection = true,
    documents = {},
    maxBodyBytes = 256 * 1024,
    operationTimeoutMs = 15_000,
    compileAfter = 3,
    policies = {},
    connections = {},
    logSecret,
    metrics: isCounting = true,
  }: GatewayOptions,
  { logger = pino({ level: 'warn' }), now = () => new Date() }: GatewayDeps = {},
): Gateway {
  const baseUrl = requireUpstreamUrl(upstream);
  const dispatcher = createDispatcher(baseUrl.origin, connections);
  const metrics = isCounting ? createGatewayMetrics() : undefined;
  const bindCaller = createUpstreamClient({
    ...policies,
    baseUrl,
    dispatcher,
    userAgent: `notigraph/${VERSION}`,
    observer: metrics?.upstream,
  });
  const createContext = createContextFactory({ bindCaller, logger, now, operationTimeoutMs });
  const clientErrors = createClientErrors(logger);
  const accessLog = createAccessLog({ logger, secret: logSecret });
  const log: AccessLog = (entry) => {
    metrics?.operation(entry); // First: the time of writing the line is not the operation's.
    accessLog(entry);
  };
  const origins = new Set(corsOrigins);
  const corsHeaders = createCorsHeaders(origins);
  const schema = createSchema();
  const check = createCheckDocument({ ...documents, introspection });

  const yoga = createYoga<ServerContext, GatewayContext>({
    schema,
    context: contextOfRequest(createContext),
    graphqlEndpoint: endpoint,
    plugins: [
      useRequestId(), // First: every other plugin may name the request.
      useCors({ origins, corsHeaders }), // Before the gate: a preflight is no GraphQL request.
      graphiql !== false && useGraphiQL({ endpoint, tabs: loadOperations(), headers: graphiqlHeaders(graphiql) }),
      useRequestGate({ endpoint }), // After the page, which browsers get at the same path.
      useAuthentication(), // A malformed key is refused before anything of the body is read.
      useRequestBody({ maxBytes: maxBodyBytes }),
      useDocumentLimits({ check }),
      useErrorModel({ clientErrors }), // Sees every result, of refused requests too.
      useAccessLog({ log }), // After the error model: it notes the code that the client sees.
    ],
    maskedErrors: false, // useErrorModel masks.
    graphiql: false, // useGraphiQL serves it, without a CDN.
    landingPage: false,
    healthCheckEndpoint: ' ', // No URL ends so: Yoga's would answer every one that ends in /health.
    maxRequestBodySize: false, // useRequestBody limits it.
    cors: false,
    multipart: false,
    batching: false,
    logging: false,
  });

  const operations = createPreparedOperations({ schema, compileAfter, check });
  const listener = servePrepared({
    endpoint,
    maxBodyBytes,
    operations,
    createContext,
    clientErrors,
    log,
    corsHeaders,
    otherwise: (request, response, context) => void yoga(request, response, context),
  });

  const figures = () => metrics?.figures() ?? [];
  const dispose = () => dispatcher.close();
  return {
    fetch: async (request) => yoga.fetch(request, {}),
    listener,
    endpoint,
    checkUpstream: () => probeUpstream(baseUrl, dispatcher),
    metrics: async () => (isCounting ? toText([figures()]) : ''),
    figures,
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
