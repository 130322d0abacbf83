import type { RequestListener } from 'node:http';
import { createYoga, type Plugin } from 'graphql-yoga';
import { type Logger, pino } from 'pino';
import { createAuthenticator } from './auth/authenticator.ts';
import { createBrowserAccess } from './auth/browser-access.ts';
import type { ClientsOptions } from './auth/client-options.ts';
import { resolveClientSettings } from './auth/client-settings.ts';
import { checkPlugin } from './graphql/check-plugin.ts';
import { createClientErrors } from './graphql/client-errors.ts';
import { createContextFactory, type GatewayContext } from './graphql/context.ts';
import { createDocumentCaches } from './graphql/documents/document-cache.ts';
import type { DocumentLimits } from './graphql/documents/document-limits.ts';
import type { Manifest } from './graphql/documents/manifest.ts';
import { createManifestFiles } from './graphql/documents/manifest-files.ts';
import { createReadRequiredScopes } from './graphql/documents/required-scopes.ts';
import { loadOperations } from './graphql/documents/shipped-operations.ts';
import { createTrustedDocuments } from './graphql/documents/trusted-documents.ts';
import { useDocumentLimits } from './graphql/documents/use-document-limits.ts';
import type { ExecutionLimits } from './graphql/executor/limits.ts';
import { useExecutor } from './graphql/executor/use-executor.ts';
import { createSchema } from './graphql/schema.ts';
import { createAdmission } from './http/admission.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createClientTokenRoute } from './http/client-tokens.ts';
import { createCorsHeaders } from './http/cors.ts';
import { createFetchHandler } from './http/fetch-adapter.ts';
import { createGraphiQL } from './http/graphiql.ts';
import { createNegotiateMediaType } from './http/media-type.ts';
import { createListener } from './http/node-adapter.ts';
import { createPipeline } from './http/pipeline.ts';
import { createPrepare, useOperationRules } from './http/prepare.ts';
import { createRespond } from './http/respond.ts';
import { createRouter } from './http/router.ts';
import { watchFiles } from './lib/file-watcher.ts';
import { VERSION } from './lib/version.ts';
import { createMemoryRateLimiter } from './rate-limits/memory-rate-limiter.ts';
import { createRedisRateLimiter } from './rate-limits/redis-rate-limiter.ts';
import { type AccessLog, createAccessLog } from './telemetry/access-log.ts';
import { createGatewayMetrics } from './telemetry/gateway-metrics.ts';
import { formatMetrics, type MetricSamples } from './telemetry/metrics-snapshot.ts';
import { createUpstreamClient, type UpstreamOptions } from './upstream/client.ts';
import { requireUpstreamUrl } from './upstream/transport/address.ts';
import { createDispatcher, type DispatcherOptions } from './upstream/transport/dispatcher.ts';
import { probeUpstream } from './upstream/transport/probe.ts';

/** Options of a gateway. */
export interface GatewayOptions {
  /** The service's base address, such as `https://notifications.example.com`; may carry a path prefix. */
  upstream: URL | string;
  /** The exact path of the GraphQL endpoint. @default '/graphql' */
  endpoint?: string;
  /** Whether browsers get GraphiQL at the endpoint; with `authorization`, that header is filled in for everybody who opens it. @default false */
  graphiql?: boolean | { authorization: string };
  /** Exact origins whose pages may call the gateway from a browser, with any credential. @default none */
  corsOrigins?: readonly string[];
  /** Kinds of clients that are served: servers with the service’s key, browsers with tokens. @default only servers */
  clients?: ClientsOptions;
  /** The documents that apps were built with: manifests, or the paths of files and folders of them. @default none */
  trustedDocuments?: { manifests: readonly (string | Manifest)[] };
  /** Where calls are counted for rate limits: in this process, or in a Redis that replicas share. @default this process */
  rateLimits?: { redis?: { url: string } | undefined };
  /** How often files of keys, secrets and manifests are looked at, in seconds. @default 10 */
  reloadSeconds?: number;
  /** Whether clients may ask for the schema. @default true */
  introspection?: boolean;
  /** How large a document may be. */
  documents?: DocumentLimits;
  /** The largest request body, in bytes. @default 256 KiB */
  maxBodyBytes?: number;
  /** For one operation with all its upstream calls, in milliseconds. @default 15000 */
  operationTimeoutMs?: number;
  /** How much an execution may produce. */
  results?: ExecutionLimits;
  /**
   * Plugins for Yoga's engine, after the gateway's own. Hooks of parsing, validation, context building and execution run, with their
   * `instrumentation`; hooks of HTTP requests never run, and `createGateway` refuses plugins that have one. @default none
   */
  plugins?: readonly Plugin<GatewayContext>[];
  /** How the upstream is called: times, retries, breaker, concurrency, limits. */
  policies?: Omit<UpstreamOptions, 'baseUrl' | 'dispatcher' | 'userAgent' | 'observer'>;
  /** The connections to the upstream. */
  connections?: DispatcherOptions;
  /** Makes a tenant's name in the log the same over restarts and replicas. @default a new one for each gateway */
  logSecret?: string;
  /** Whether operations and requests to the service are counted. @default true */
  metrics?: boolean;
}

/** Dependencies of a gateway. */
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
  /** Returns the metrics so far in Prometheus' text format; empty with `metrics: false`. */
  metrics(): Promise<string>;
  /** The same as plain data: to be sent to another process, or printed together with other figures. */
  metricsSnapshot(): MetricSamples[];
  /** Returns the bytes of upstream responses that are being received, for the load shedding of a server. */
  bufferedBytes(): number;
  /** Closes the connections to the upstream service, when the calls that run have ended. */
  dispose(): Promise<void>;
}

/** Where servers get tokens for their frontends. */
const CLIENT_TOKENS_PATH = '/client-tokens';

/**
 * Puts the gateway together. Throws a `TypeError` when `upstream` cannot be used as a base address, a `SecretError` or `ManifestError`
 * when a file of keys, secrets or documents cannot be used.
 */
export function createGateway(
  {
    upstream,
    endpoint = '/graphql',
    graphiql = false,
    corsOrigins = [],
    clients = {},
    trustedDocuments = { manifests: [] },
    rateLimits = {},
    reloadSeconds = 10,
    introspection = true,
    documents = {},
    maxBodyBytes = 256 * 1024,
    operationTimeoutMs = 15_000,
    results = {},
    plugins = [],
    policies = {},
    connections = {},
    logSecret,
    metrics: isCounting = true,
  }: GatewayOptions,
  { logger = pino({ level: 'warn' }), now = () => new Date() }: GatewayDeps = {},
): Gateway {
  const baseUrl = requireUpstreamUrl(String(upstream));
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
    metrics?.operation(entry); // First, so that logging doesn't count toward the operation's duration.
    accessLog(entry);
  };
  const clientSettings = resolveClientSettings(clients, corsOrigins);
  const corsHeaders = createCorsHeaders(clientSettings);
  const manifests = createManifestFiles(trustedDocuments.manifests);
  const trusted = createTrustedDocuments(manifests, logger);
  const browser =
    clients.browser && createBrowserAccess(clients.browser, { logger, now, documentOf: (id) => trusted.hashOf(id) });
  const authenticator = createAuthenticator({
    servesServers: clients.server !== false,
    browser,
  });
  const { redis } = rateLimits;
  const limiter = redis === undefined ? createMemoryRateLimiter() : createRedisRateLimiter({ ...redis, logger });
  const admission = createAdmission(limiter, clientSettings);
  const schemes = [
    ...(clients.server === false ? [] : (['ApiKey'] as const)),
    ...(browser === undefined ? [] : (['Bearer'] as const)),
  ];
  const schema = createSchema();

  const yoga = createYoga<object, GatewayContext>({
    schema,
    plugins: [
      useExecutor({ ...results, hideSuggestions: !introspection }),
      useDocumentLimits({ ...documents, introspection }),
      useOperationRules(), // After the limits: they tell more about a document that breaks both.
      ...plugins.map(checkPlugin),
    ],
    parserAndValidationCache: createDocumentCaches(),
    maskedErrors: false, // createClientErrors masks.
    logging: false,
  });

  const pipeline = createPipeline({
    endpoint,
    maxBodyBytes,
    negotiateMediaType: createNegotiateMediaType(),
    authenticate: createAuthenticate({ authenticator, schemes }),
    admission,
    trustedDocuments: trusted,
    clientSettings: clientSettings,
    createContext,
    prepare: createPrepare(yoga, plugins.length > 0),
    readRequiredScopes: createReadRequiredScopes(schema),
    respond: createRespond({ clientErrors, admission, corsHeaders, log, maxResponseBytes: results.maxResponseBytes }),
  });
  const handle = createRouter({
    endpoint,
    clientSettings: clientSettings,
    corsHeaders,
    graphiql:
      graphiql === false
        ? undefined
        : createGraphiQL({ endpoint, tabs: loadOperations(), headers: graphiqlHeaders(graphiql) }),
    clientTokens: browser?.clientTokens && {
      path: CLIENT_TOKENS_PATH,
      route: createClientTokenRoute({ ...browser.clientTokens, limiter, logger }),
    },
    pipeline,
  });

  const metricsSnapshot = () => metrics?.snapshot() ?? [];
  const reloading = watchFiles([manifests, ...(browser?.files ?? [])], reloadSeconds, logger);
  async function dispose(): Promise<void> {
    reloading[Symbol.dispose]();
    await Promise.all([dispatcher.close(), limiter.dispose(), yoga.dispose()]);
  }
  return {
    fetch: createFetchHandler(handle),
    listener: createListener(handle),
    endpoint,
    checkUpstream: () => probeUpstream(baseUrl, dispatcher),
    metrics: async () => (isCounting ? formatMetrics([metricsSnapshot()]) : ''),
    metricsSnapshot,
    bufferedBytes: () => dispatcher.bufferedBytes,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

const graphiqlHeaders = (graphiql: true | { authorization: string }): Record<string, string> =>
  graphiql === true ? {} : { Authorization: graphiql.authorization };
