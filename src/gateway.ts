import type { RequestListener } from 'node:http';
import { createYoga, type Plugin } from 'graphql-yoga';
import { type Logger, pino } from 'pino';
import { createAuthenticator } from './auth/authenticator.ts';
import { createBrowserAccess } from './auth/browser-access.ts';
import { createClientRules } from './auth/client-rules.ts';
import { checkPlugin } from './graphql/check-plugin.ts';
import { createClientErrors } from './graphql/client-errors.ts';
import { createContextFactory, type GatewayContext } from './graphql/context.ts';
import { createDocumentCaches } from './graphql/documents/document-cache.ts';
import { createManifestFiles } from './graphql/documents/manifest-files.ts';
import { createReadRequiredScopes } from './graphql/documents/required-scopes.ts';
import { loadOperations } from './graphql/documents/shipped-operations.ts';
import { createTrustedDocuments } from './graphql/documents/trusted-documents.ts';
import { useDocumentLimits } from './graphql/documents/use-document-limits.ts';
import { useExecutor } from './graphql/executor/use-executor.ts';
import { createSchema } from './graphql/schema.ts';
import { createAdmission } from './http/admission.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createClientTokenRoute } from './http/client-tokens.ts';
import { createCorsHeaders } from './http/cors.ts';
import { createFetchHandler } from './http/fetch-adapter.ts';
import { createFindPage, findTurnedOffPage } from './http/graphiql/graphiql.ts';
import { createNegotiateMediaType } from './http/media-type.ts';
import { createListener } from './http/node-adapter.ts';
import { createPipeline } from './http/pipeline.ts';
import { createPrepare, useOperationRules } from './http/prepare.ts';
import { createRespond } from './http/respond.ts';
import { createRouter } from './http/router.ts';
import { watchFiles } from './lib/file-watcher.ts';
import { createMemoryRateLimiter } from './rate-limits/memory-rate-limiter.ts';
import { createRedisRateLimiter } from './rate-limits/redis-rate-limiter.ts';
import type { GatewaySettingOptions } from './settings/gateway-options.gen.ts';
import { parseGatewayOptions } from './settings/parse-settings.ts';
import type { GatewaySettings } from './settings/settings.ts';
import { createAccessLog } from './telemetry/access-log.ts';
import { createGatewayMetrics } from './telemetry/gateway-metrics.ts';
import { formatMetrics, type MetricSamples } from './telemetry/metrics-snapshot.ts';
import { createUpstreamClient, type UpstreamDeps } from './upstream/client.ts';
import { createDispatcher } from './upstream/transport/dispatcher.ts';
import { probeUpstream } from './upstream/transport/probe.ts';

/** Options of a gateway. */
export interface GatewayOptions extends Omit<GatewaySettingOptions, 'upstream'> {
  /** Base address of the service, such as `https://notifications.example.com`. May have a path prefix. */
  upstream: URL | string;
  /**
   * Plugins for Yoga's engine, after the gateway's own. Hooks of parsing, validation, context building and execution run, with their
   * `instrumentation`; hooks of HTTP requests never run, and `createGateway` rejects plugins that have one. @default none
   */
  plugins?: readonly Plugin<GatewayContext>[];
}

/** Dependencies of a gateway. */
export interface GatewayDeps extends Pick<UpstreamDeps, 'monotonicNow' | 'random'> {
  /** Logger of operations and problems. @default pino on standard output, with warnings and errors only */
  logger?: Logger;
  /** Returns the current time. @default () => new Date() */
  now?: () => Date;
}

/** Gateway that can be mounted in a server. Whoever creates it disposes it. */
export interface Gateway extends AsyncDisposable {
  /** Answers one request of a host that uses the Fetch API. */
  fetch(request: Request): Promise<Response>;
  /** Answers one request of `node:http` or a framework on top of it. */
  listener: RequestListener;
  /** Path of the GraphQL endpoint. */
  endpoint: string;
  /**
   * Sends one read without a key to the service. Returns a sentence if it is unreachable, or responds with something that is no API of this kind;
   * undefined if there is no problem.
   */
  checkUpstream(): Promise<string | undefined>;
  /** Returns the metrics so far in Prometheus' text format; empty with `metrics: false`. */
  metrics(): Promise<string>;
  /** Returns the same metrics as plain data, which can be sent to another process or combined with other samples. */
  metricsSnapshot(): MetricSamples[];
  /** Returns the bytes of upstream responses that are being received, for the load shedding of a server. */
  bufferedBytes(): number;
  /** Closes the connections to the service once in-flight calls have ended. */
  dispose(): Promise<void>;
}

/** Path at which servers get tokens for their frontends. */
const CLIENT_TOKENS_PATH = '/client-tokens';

/**
 * Creates a gateway.
 *
 * @throws {TypeError} if an option is unknown, undefined or invalid
 * @throws {SecretError | ManifestError} if a file of keys, secrets or documents can't be used
 * @throws {MissingPackageError} if rate limits are in Redis, but its client is not installed
 */
export function createGateway({ plugins = [], ...options }: GatewayOptions, deps: GatewayDeps = {}): Gateway {
  const { logger = pino({ level: 'warn' }), now = () => new Date() } = deps;
  const settings = parseGatewayOptions({ ...options, upstream: toText(options.upstream) });
  const { endpoint, clients, rateLimits, upstream } = settings;

  // Upstream
  const metrics = settings.metrics ? createGatewayMetrics() : undefined;
  const dispatcher = createDispatcher(upstream.origin, settings);
  const bindCaller = createUpstreamClient(settings, { ...deps, dispatcher, observer: metrics?.upstream });

  // Clients
  const manifests = createManifestFiles(settings.trustedDocuments.manifests);
  const trustedDocuments = createTrustedDocuments(manifests, logger);
  const documentOf = (id: string) => trustedDocuments.hashOf(id);
  const browser =
    clients.browser && createBrowserAccess(clients.browser, settings.clientTokens, { logger, now, documentOf });
  const clientRules = createClientRules(settings);
  const authenticator = createAuthenticator({ servesServers: clients.server !== false, browser });
  const limiter =
    rateLimits.store === 'memory'
      ? createMemoryRateLimiter()
      : createRedisRateLimiter({ ...rateLimits.store.redis, logger });
  const admission = createAdmission(limiter, clientRules);
  const files = watchFiles([manifests, ...(browser?.files ?? [])], settings.reloadSeconds, logger);

  // GraphQL
  const schema = createSchema();
  const yoga = createEngine(schema, settings, plugins);

  // HTTP
  const corsHeaders = createCorsHeaders(clientRules);
  const accessLog = createAccessLog({ logger, secret: settings.logSecret });
  const pipeline = createPipeline({
    endpoint,
    maxBodyBytes: settings.maxBodyBytes,
    negotiateMediaType: createNegotiateMediaType(),
    authenticate: createAuthenticate({ authenticator, schemes: schemesOf(clients) }),
    admission,
    trustedDocuments,
    clientRules,
    createContext: createContextFactory({
      bindCaller,
      logger,
      now,
      operationTimeoutMs: settings.operationTimeoutMs,
      logsCalls: logger.isLevelEnabled('debug'),
    }),
    prepare: createPrepare(yoga, plugins.length > 0),
    readRequiredScopes: createReadRequiredScopes(schema),
    respond: createRespond({
      clientErrors: createClientErrors(logger),
      admission,
      corsHeaders,
      log(entry) {
        metrics?.operation(entry); // First, so that logging doesn't count toward the operation's duration.
        accessLog(entry);
      },
      maxResponseBytes: settings.maxResponseBytes,
    }),
  });
  const handle = createRouter({
    endpoint,
    clientRules,
    corsHeaders,
    findPage: createPages(settings),
    clientTokens: browser?.clientTokens && {
      path: CLIENT_TOKENS_PATH,
      route: createClientTokenRoute({ ...browser.clientTokens, limiter, logger }),
    },
    pipeline,
  });

  const metricsSnapshot = () => metrics?.snapshot() ?? [];
  async function dispose(): Promise<void> {
    files[Symbol.dispose]();
    await Promise.all([dispatcher.close(), limiter.dispose(), yoga.dispose()]);
  }
  return {
    fetch: createFetchHandler(handle),
    listener: createListener(handle),
    endpoint,
    checkUpstream: () => probeUpstream(upstream, dispatcher),
    metrics: async () => (metrics === undefined ? '' : formatMetrics([metricsSnapshot()])),
    metricsSnapshot,
    bufferedBytes: () => dispatcher.bufferedBytes,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Creates Yoga's engine, which parses, validates and executes documents. Everything about HTTP is the pipeline's. */
const createEngine = (
  schema: ReturnType<typeof createSchema>,
  settings: GatewaySettings,
  plugins: readonly Plugin<GatewayContext>[],
) =>
  createYoga<object, GatewayContext>({
    schema,
    plugins: [
      useExecutor(settings),
      useDocumentLimits(settings),
      useOperationRules(), // After the limits: they tell more about a document that breaks both.
      ...plugins.map(checkPlugin),
    ],
    parserAndValidationCache: createDocumentCaches(),
    maskedErrors: false, // createClientErrors masks.
    logging: false,
  });

/** Returns the authentication schemes that the gateway accepts, for `WWW-Authenticate`. */
const schemesOf = ({ server, browser }: GatewaySettings['clients']) => [
  ...(server === false ? [] : (['ApiKey'] as const)),
  ...(browser === undefined ? [] : (['Bearer'] as const)),
];

function createPages({ graphiql, clients }: GatewaySettings) {
  if (graphiql === false) {
    return findTurnedOffPage;
  }
  const { authorization, sandbox: isSandbox = false } = graphiql === true ? {} : graphiql;
  return createFindPage({ operations: loadOperations(), schemes: schemesOf(clients), authorization, isSandbox });
}

const toText = (address: URL | string): string => (address instanceof URL ? address.href : address);
