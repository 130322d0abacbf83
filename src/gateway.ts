import { createYoga } from 'graphql-yoga';
import { pino } from 'pino';
import { createAuthenticator } from './audiences/authenticator.ts';
import { createBrowserAccess } from './audiences/browser-access.ts';
import { createPolicies } from './audiences/policies.ts';
import type { Gateway, GatewayDeps, GatewayOptions } from './gateway-options.ts';
import { checkPlugin } from './graphql/check-plugin.ts';
import { createClientErrors } from './graphql/client-errors.ts';
import { createContextFactory, type GatewayContext } from './graphql/context.ts';
import { createDocumentCaches } from './graphql/documents/document-cache.ts';
import { useDocumentLimits } from './graphql/documents/use-document-limits.ts';
import { useExecutor } from './graphql/executor/use-executor.ts';
import { createReadRequiredScopes } from './graphql/required-scopes.ts';
import { createSchema } from './graphql/schema.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createClientTokenRoute } from './http/client-tokens.ts';
import { createCorsHeaders } from './http/cors.ts';
import { createFetchHandler } from './http/fetch-adapter.ts';
import { createGraphiQL } from './http/graphiql.ts';
import { createChooseMediaType } from './http/media-type.ts';
import { createListener } from './http/node-adapter.ts';
import { createPipeline } from './http/pipeline.ts';
import { createPrepare, useOperationRules } from './http/prepare.ts';
import { createRespond } from './http/respond.ts';
import { createRouter } from './http/router.ts';
import { toText } from './metrics/figures.ts';
import { createGatewayMetrics } from './metrics/gateway-metrics.ts';
import { loadOperations } from './operations.ts';
import { createAdmission } from './rate-limits/admission.ts';
import { createMemoryRateLimiter } from './rate-limits/memory-rate-limiter.ts';
import { createRedisRateLimiter } from './rate-limits/redis-rate-limiter.ts';
import { keepReloading } from './reloading.ts';
import { type AccessLog, createAccessLog } from './telemetry/access-log.ts';
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
    results = {},
    plugins = [],
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
    metrics?.operation(entry); // First, so that logging doesn't count toward the operation's duration.
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
    chooseMediaType: createChooseMediaType(),
    authenticate: createAuthenticate({ authenticator, schemes }),
    admission,
    trustedDocuments: trusted,
    policies: served,
    createContext,
    prepare: createPrepare(yoga, plugins.length > 0),
    readRequiredScopes: createReadRequiredScopes(schema),
    respond: createRespond({ clientErrors, admission, corsHeaders, log, maxResponseBytes: results.maxResponseBytes }),
  });
  const handle = createRouter({
    endpoint,
    policies: served,
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

  const figures = () => metrics?.figures() ?? [];
  const reloading = keepReloading([manifests, ...(browser?.files ?? [])], reloadSeconds, logger);
  async function dispose(): Promise<void> {
    reloading[Symbol.dispose]();
    await Promise.all([dispatcher.close(), limiter.dispose(), yoga.dispose()]);
  }
  return {
    fetch: createFetchHandler(handle),
    listener: createListener(handle),
    endpoint,
    checkUpstream: () => probeUpstream(baseUrl, dispatcher),
    metrics: async () => (isCounting ? toText([figures()]) : ''),
    figures,
    bufferedBytes: () => dispatcher.bufferedBytes,
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
