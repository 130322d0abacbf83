import { createYoga } from 'graphql-yoga';
import { pino } from 'pino';
import { createAuthenticator } from './audiences/authenticator.ts';
import { createBrowserAccess } from './audiences/browser-access.ts';
import { createPolicies } from './audiences/policies.ts';
import { contextOfRequest, createContextFactory, type GatewayContext, type ServerContext } from './context.ts';
import type { Gateway, GatewayDeps, GatewayOptions } from './gateway-options.ts';
import { createReadRequiredScopes } from './graphql/required-scopes.ts';
import { createSchema } from './graphql/schema.ts';
import { toText } from './metrics/figures.ts';
import { createGatewayMetrics } from './metrics/gateway-metrics.ts';
import { loadOperations } from './operations.ts';
import { type AccessLog, createAccessLog } from './plugins/access-log.ts';
import { createCheckDocument } from './plugins/check-document.ts';
import { createClientErrors } from './plugins/client-errors.ts';
import { useAccessLog } from './plugins/use-access-log.ts';
import { useAuthentication } from './plugins/use-authentication.ts';
import { useClientTokens } from './plugins/use-client-tokens.ts';
import { createCorsHeaders, useCors } from './plugins/use-cors.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useErrorModel } from './plugins/use-error-model.ts';
import { useGraphiQL } from './plugins/use-graphiql.ts';
import { useRateLimit } from './plugins/use-rate-limit.ts';
import { useRequestBody } from './plugins/use-request-body.ts';
import { useRequestGate } from './plugins/use-request-gate.ts';
import { useRequestId } from './plugins/use-request-id.ts';
import { useScopes } from './plugins/use-scopes.ts';
import { useTrustedDocuments } from './plugins/use-trusted-documents.ts';
import { createPreparedOperations } from './prepared/prepared-operations.ts';
import { servePrepared } from './prepared/serve-prepared.ts';
import { createAdmission } from './rate-limits/admission.ts';
import { createMemoryRateLimiter } from './rate-limits/memory-rate-limiter.ts';
import { createRedisRateLimiter } from './rate-limits/redis-rate-limiter.ts';
import { keepReloading } from './reloading.ts';
import { createManifestFiles } from './trusted-documents/manifest-files.ts';
import { createTrustedDocuments } from './trusted-documents/trusted-documents.ts';
import { createUpstreamClient } from './upstream/client.ts';
import { createDispatcher } from './upstream/dispatcher.ts';
import { probeUpstream } from './upstream/probe.ts';
import { parseUpstreamUrl } from './upstream-url.ts';
import { VERSION } from './version.ts';

export type { Gateway, GatewayDeps, GatewayOptions };

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
    audiences = {},
    trustedDocuments = { manifests: [] },
    rateLimits = {},
    reloadSeconds = 10,
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
  const served = createPolicies(audiences, corsOrigins);
  const corsHeaders = createCorsHeaders(served);
  const manifests = createManifestFiles(trustedDocuments.manifests);
  const trusted = createTrustedDocuments(manifests, logger);
  const browser =
    audiences.browser &&
    createBrowserAccess(audiences.browser, { logger, now, documentOf: (id) => trusted.hashOf(id) });
  const authenticator = createAuthenticator({
    servesServers: audiences.server !== false,
    browser,
  });
  const { redis } = rateLimits;
  const limiter = redis === undefined ? createMemoryRateLimiter() : createRedisRateLimiter({ ...redis, logger });
  const admission = createAdmission(limiter, served);
  const schemes = [
    ...(audiences.server === false ? [] : (['ApiKey'] as const)),
    ...(browser === undefined ? [] : (['Bearer'] as const)),
  ];
  const schema = createSchema();
  const check = createCheckDocument({ ...documents, introspection });
  const readRequiredScopes = createReadRequiredScopes(schema);

  const yoga = createYoga<ServerContext, GatewayContext>({
    schema,
    context: contextOfRequest(createContext),
    graphqlEndpoint: endpoint,
    plugins: [
      useRequestId(), // First: every other plugin may name the request.
      useCors({ policies: served, corsHeaders }), // Before the gate: a preflight is no GraphQL request.
      graphiql !== false && useGraphiQL({ endpoint, tabs: loadOperations(), headers: graphiqlHeaders(graphiql) }),
      browser?.clientTokens !== undefined &&
        useClientTokens({ ...browser.clientTokens, path: CLIENT_TOKENS_PATH, limiter, logger }),
      useRequestGate({ endpoint }), // After the page, which browsers get at the same path.
      useAuthentication({ authenticator, schemes }), // Who may not be served is refused before anything of the body is read.
      useRateLimit({ admission }),
      useRequestBody({ maxBytes: maxBodyBytes }),
      useTrustedDocuments({ documents: trusted, policies: served }),
      useDocumentLimits({ check }),
      useErrorModel({ clientErrors }), // Sees every result, of refused requests too.
      useAccessLog({ log }), // After the error model: it notes the code that the client sees.
      useScopes({ readRequiredScopes }), // Last: what comes after it does not learn of an operation that it stops.
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

  const operations = createPreparedOperations({ schema, compileAfter, check, readRequiredScopes });
  const listener = servePrepared({
    endpoint,
    maxBodyBytes,
    authenticator,
    operations,
    documents: trusted,
    policies: served,
    admission,
    createContext,
    clientErrors,
    log,
    corsHeaders,
    otherwise: (request, response, context) => void yoga(request, response, context),
  });

  const figures = () => metrics?.figures() ?? [];
  const reloading = keepReloading([manifests, ...(browser?.files ?? [])], reloadSeconds, logger);
  async function dispose(): Promise<void> {
    reloading[Symbol.dispose]();
    await Promise.all([dispatcher.close(), limiter.dispose()]);
  }
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
