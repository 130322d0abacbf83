// Builds a gateway from its settings, and defines its options and methods.

import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { createAuth } from './auth/authenticate.ts';
import { createRemoteKeys } from './auth/signing-keys.ts';
import { createManifestFiles } from './documents/manifest.ts';
import { TrustedDocuments } from './documents/trusted-documents.ts';
import { createClientErrors } from './errors/client-errors.ts';
import { watchFiles } from './files/file-watcher.ts';
import { createPages } from './graphiql/graphiql.ts';
import { createContextFactory } from './graphql/context.ts';
import { scopesOf } from './graphql/scopes.ts';
import { createAdmission } from './http/admission.ts';
import { createClientTokenRoute } from './http/client-token-route.ts';
import { createCors } from './http/cors.ts';
import { createEngine, type HostPlugin } from './http/engine.ts';
import { createFetchHandler } from './http/fetch-adapter.ts';
import { createInFlightRequests } from './http/in-flight-requests.ts';
import type { NodeMessage } from './http/message.ts';
import { createListener, createRequestReader, type NodeReply } from './http/node-adapter.ts';
import { createPipeline, createRequestStates, type HttpParts, RunningRequests } from './http/pipeline.ts';
import { createRespond } from './http/respond.ts';
import { headOf } from './http/response-head.ts';
import { createRouter } from './http/router.ts';
import { createKnownHosts, createUpstreamSelector } from './http/select-upstream.ts';
import { createIdentifySession, type SessionResult } from './http/sessions.ts';
import { assertInstalled, assertRuntime } from './lib/optional-packages.ts';
import { createMcp, MCP_PATH } from './mcp/mcp-route.ts';
import type { McpStreams } from './mcp/messages.ts';
import { createToolFiles } from './mcp/tool-files.ts';
import { createToolServers } from './mcp/tool-server.ts';
import type { GatewayModule } from './modules/module.ts';
import { createSchema, endpointsOf, findUndeclared } from './modules/schema.ts';
import type { Connect } from './network/connector.ts';
import { createRateLimiters } from './rate-limits/redis-rate-limiter.ts';
import { describeStore } from './redis/redis.ts';
import type { GatewaySettingOptions } from './settings/gateway-options.gen.ts';
import { parseOptions, toSentence } from './settings/parse.ts';
import { findUnknownScopes } from './settings/scopes.ts';
import type { GatewaySettings } from './settings/settings.ts';
import { createJsonLogger, type HostLogger, toPino } from './telemetry/json-logger.ts';
import { formatMetrics, type MetricSamples } from './telemetry/metrics.ts';
import { createTelemetry, createTelemetryState } from './telemetry/telemetry.ts';
import type { OpenServiceDeps } from './upstream/service.ts';
import { CacheStores, Upstreams } from './upstream/upstreams.ts';

/** Options of a gateway: `upstream` or `upstreams`, and others. */
export type GatewayOptions = OptionalGatewayOptions &
  (Required<Pick<OptionalGatewayOptions, 'upstream'>> | Required<Pick<OptionalGatewayOptions, 'upstreams'>>);

interface OptionalGatewayOptions extends Omit<GatewaySettingOptions, 'upstream'> {
  /** Base address of the service, such as `https://notifications.example.com`. May have a path prefix. Set either this or `upstreams`. */
  upstream?: URL | string;
  /**
   * Plugins for Yoga's engine, after the gateway's own. Hooks of parsing, validation, context building and execution run, with their
   * `instrumentation`; hooks of HTTP requests never run, and `createGateway` rejects plugins that have one. @default none
   */
  plugins?: readonly HostPlugin[];
  /**
   * Identifies people by sessions of your own; see docs/own-sessions.md. Called for each request to the endpoint. Those it returns are browsers, within
   * the limits of `clients.browser`. Without a session, it returns undefined, and the header `Authorization` counts.
   * @default only that header counts
   */
  authenticate?(request: NodeMessage | Request): SessionResult | Promise<SessionResult>; // A method, so that the parameter can have the type of a framework.
  /** Modules that add types, fields and endpoints to the schema; see docs/modules.md. @default none */
  modules?: readonly GatewayModule[];
}

/** Dependencies of a gateway. */
export interface GatewayDeps extends Pick<OpenServiceDeps, 'monotonicNow' | 'random' | 'breakerMinimumCalls'> {
  /**
   * Logger of operations and problems: pino, that of Fastify, or another whose methods take fields and a message, such as `console`. One that is not of
   * pino gets no lines of the level `debug`.
   * @default pino on standard output, with warnings and errors only
   */
  logger?: HostLogger;
  /** Returns the current time. @default () => new Date() */
  now?: () => Date;
  /** Opens connections to the service. @default over the network */
  connect?: Connect;
  /** If there are modules, called once for each call of a field that explanations don't list. @default calls are not checked */
  onUndeclaredCall?: (problem: string) => void;
}

/** Gateway that can be mounted in a server. Dispose it to close its connections. */
export interface Gateway extends AsyncDisposable {
  /** Answers one request of a host that uses the Fetch API. Ignores what else the host passes, such as its environment. */
  fetch(request: Request, ...others: readonly unknown[]): Promise<Response>;
  /** Answers a request of a client in the same process, as the global `fetch`. An address without origin works too. */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /** Answers one request of `node:http`, `node:http2` or a framework on top of them. */
  listener: (request: NodeMessage, response: NodeReply) => void;
  /** Returns whether a request is for GraphiQL's page or one of its files, which a server should answer even while it sheds load. */
  isPage(request: IncomingMessage): boolean;
  /** Returns the headers with which pages can read that a server refuses a request itself, such as with 503 while it sheds load. */
  refusalHeaders(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Path of the GraphQL endpoint. */
  endpoint: string;
  /**
   * Sends one read without a key to each service. Returns a sentence if it is unreachable, or responds with something that is no API of this kind;
   * undefined if there is no problem.
   */
  checkUpstream(): Promise<string | undefined>;
  /**
   * Serves the tools of `mcp` to one client over streams, such as standard input and output, until one of them ends. Calls that are in flight when
   * the input ends are answered.
   *
   * @throws {TypeError} without the option `mcp`
   * @throws {Refusal} if the credential is not accepted
   */
  serveMcp(streams: McpStreams): Promise<void>;
  /** Returns the metrics so far in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Returns the same metrics as plain data, which can be sent to another process or combined with other samples. */
  metricsSnapshot(): MetricSamples[];
  /** Returns the bytes of upstream responses that are being received, for the load shedding of a server. */
  bufferedBytes(): number;
  /** Resolves once connecting to Redis has succeeded or failed. Before, a process counts rate limits on its own, and caches nothing. */
  connected(): Promise<void>;
  /** Returns what doesn't work although requests are served, for health checks: problems by the name of the part. */
  degradations(): Readonly<Record<string, string>>;
  /** Closes the connections to the service once in-flight requests and calls of tools have ended. */
  dispose(): Promise<void>;
}

/**
 * State that a gateway takes over from the one that it replaces: counters continue, rate limits are not refilled, the cache keeps its responses, the
 * signing keys of issuers are not fetched again, and tenants keep their values in the log.
 */
type GatewayState = ReturnType<typeof createGatewayState>;

/**
 * Creates the state of the first gateway.
 *
 * @param monotonicNow clock of rate limits, in milliseconds. @default performance.now
 * @param redisTimeoutMs maximum wait for Redis, in milliseconds. @default 100
 */
export const createGatewayState = (logger: Logger, monotonicNow?: () => number, redisTimeoutMs?: number) => ({
  telemetry: createTelemetryState(logger),
  rateLimiters: createRateLimiters({ logger, timeoutMs: redisTimeoutMs }, monotonicNow),
  cacheStores: new CacheStores({ logger, timeoutMs: redisTimeoutMs }),
  remoteKeys: createRemoteKeys(logger),
});

const UNDECLARED =
  "Fields declare no calls, so each API key is tried with a read before them. Add extensions: declareCalls('1'), or '0' for those without a call.";

/** Path at which servers get tokens for their frontends. */
const CLIENT_TOKENS_PATH = '/client-tokens';

/**
 * Creates a gateway.
 *
 * @param state state of the gateway that it replaces. By default, it replaces none
 * @throws {TypeError} if an option is unknown, undefined or invalid
 * @throws {Error} as `buildGateway` does
 */
export function createGateway(
  { plugins = [], modules = [], authenticate, upstream, ...options }: GatewayOptions,
  deps?: GatewayDeps,
  state?: GatewayState,
): Gateway {
  const address = upstream instanceof URL ? upstream.href : upstream;
  const values = { ...options, ...(address !== undefined && { upstream: address }) };
  const settings = parseOptions(values, Array.isArray(modules) ? modules.map(String) : modules, Boolean(authenticate));
  return buildGateway(settings, deps, state, { plugins, modules, ...(authenticate && { authenticate }) });
}

/** Code of the user that becomes part of a gateway. */
export type Extensions = Pick<OptionalGatewayOptions, 'plugins' | 'modules' | 'authenticate'>;

/**
 * Builds a gateway of valid settings.
 *
 * @throws {ModuleError} if a module can't be part of the schema
 * @throws {SecretError | ManifestError} if a file of keys, secrets, certificates or documents can't be used
 * @throws {SetupError} if the package of Redis or MCP is not installed, but the settings need it, or in Bun
 */
export function buildGateway(
  settings: GatewaySettings,
  deps: GatewayDeps = {},
  state?: GatewayState,
  { plugins = [], modules = [], authenticate }: Extensions = {},
): Gateway {
  assertRuntime();
  const { now = () => new Date() } = deps;
  const logger = deps.logger === undefined ? createJsonLogger('warn') : toPino(deps.logger);
  const { endpoint, clients, rateLimits } = settings;
  const current = state ?? createGatewayState(logger, deps.monotonicNow);

  // Clients
  const manifests = createManifestFiles(settings.trustedDocuments.manifests, (all) => {
    const count = all.reduce((sum, manifest) => sum + Object.keys(manifest).length, 0);
    logger.info({ documents: count }, 'the trusted documents were reloaded');
  });
  const schema = createSchema(settings, modules, deps.onUndeclaredCall);
  const [unknownScope] = modules.length === 0 ? [] : findUnknownScopes(clients, scopesOf(schema));
  if (unknownScope !== undefined) {
    throw new TypeError(toSentence(unknownScope));
  }
  const undeclared = modules.length === 0 ? [] : findUndeclared(schema);
  if (undeclared.length > 0) {
    logger.warn({ fields: undeclared }, UNDECLARED);
  }
  if (settings.mcp !== undefined) {
    assertInstalled('mcp');
  }
  const tools = settings.mcp && createToolFiles(settings.mcp, { schema, limits: settings });
  const documents = tools === undefined ? [manifests] : [manifests, tools];
  const trustedDocuments = new TrustedDocuments(documents, settings, logger, deps.monotonicNow);
  const auth = createAuth(settings, current.remoteKeys, (id) => trustedDocuments.hashOf(id), logger, now);

  // GraphQL
  const engine = createEngine(schema, settings, current.telemetry.counts.deprecated.declare, plugins);

  // Upstream, after all that can be invalid: what is opened here stays open until it is disposed.
  const telemetry = createTelemetry(settings, current.telemetry, auth.tenantOf, logger, now);
  const upstreams = new Upstreams(settings, {
    ...deps,
    logger,
    now,
    endpoints: endpointsOf(schema),
    cacheStores: current.cacheStores,
    circuitReporterOf: telemetry.circuitReporterOf,
    deviationReporterOf: telemetry.deviationReporterOf,
  });
  const limiter = current.rateLimiters.open(rateLimits.store);
  const watched = [...documents, ...upstreams.files, ...auth.files];
  const files = watchFiles(watched, settings.reloadSeconds, logger);

  // HTTP
  const cors = createCors(auth.clientRules, logger, deps.monotonicNow);
  const upstreamSelector = createUpstreamSelector(settings.upstreams, [endpoint, CLIENT_TOKENS_PATH, MCP_PATH]);
  const parts: HttpParts = {
    settings,
    logger,
    auth,
    cors,
    isKnownHost: createKnownHosts(settings),
    upstreamSelector,
    admission: createAdmission(limiter, auth.clientRules),
    createState: createRequestStates(settings.trustedProxies),
    startTrace: telemetry.startTrace,
  };
  const respond = createRespond(parts, createClientErrors(logger, telemetry.nameTenant), telemetry.record);
  const pipeline = createPipeline(parts, {
    identifySession: authenticate && auth.identifyPerson && createIdentifySession(authenticate, auth.identifyPerson),
    inFlight: createInFlightRequests(settings, logger, telemetry.nameTenant, (name, credential) =>
      upstreams.of(name).knows(credential),
    ),
    trustedDocuments,
    createContext: createContextFactory(telemetry.receivers, { upstreams, logger, now, settings }),
    prepare: engine.prepare,
    respond,
  });
  const running = new RunningRequests();
  const mcp = tools && createMcp(parts, createToolServers(tools, schema, pipeline, running), respond);
  const findPage = createPages(parts, modules.length > 0 ? schema : undefined);
  const clientTokens = auth.clientTokens && {
    paths: upstreamSelector.pathsOf(CLIENT_TOKENS_PATH),
    route: createClientTokenRoute(auth.clientTokens, limiter, parts, telemetry.audit),
  };
  const handle = createRouter(cors, findPage, [mcp, clientTokens], pipeline);

  const metricsSnapshot = () =>
    telemetry.samples(upstreams.states(), watched, limiter.status(), upstreams.cacheStore?.stats());
  async function dispose(): Promise<void> {
    files[Symbol.dispose]();
    await running.finished();
    await Promise.all([upstreams.close(), limiter[Symbol.asyncDispose](), engine.dispose()]);
    telemetry.audit?.[Symbol.dispose]();
  }
  return {
    fetch: createFetchHandler(handle, running),
    listener: createListener(handle, running),
    isPage: createRequestReader((request) => settings.graphiql !== false && findPage(request) !== undefined),
    refusalHeaders: createRequestReader((request) => headOf(cors, request)),
    endpoint,
    checkUpstream: () => upstreams.check(),
    async serveMcp(streams) {
      if (mcp === undefined) {
        throw new TypeError('createGateway needs the option mcp.');
      }
      await mcp.serve(streams);
    },
    metrics: async () => formatMetrics([metricsSnapshot()]),
    metricsSnapshot,
    bufferedBytes: () => upstreams.bufferedBytes,
    connected: async () => void (await Promise.all([limiter.connected(), upstreams.cacheStore?.connected()])),
    degradations() {
      const limits = describeStore(limiter.status());
      const cache = upstreams.cacheStore?.stats().problem;
      return { ...(limits !== undefined && { 'rate limits': limits }), ...(cache !== undefined && { cache }) };
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
