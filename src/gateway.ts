// Builds a gateway from its settings, and defines its options and methods.

import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { createAuth } from './auth/authenticate.ts';
import type { SessionResult } from './auth/identity.ts';
import { createRemoteKeys } from './auth/signing-keys.ts';
import { createEngine, type HostPlugin } from './documents/engine.ts';
import { TrustedDocuments } from './documents/trusted-documents.ts';
import { watchFiles } from './files/file-watcher.ts';
import { createPages } from './graphiql/graphiql.ts';
import { findScopesWithoutField } from './graphql/scopes.ts';
import { createHttp } from './http/http.ts';
import type { NodeMessage, NodeReply } from './http/message.ts';
import { assertRuntime } from './lib/installation.ts';
import { createMcp, type McpStreams } from './mcp/mcp.ts';
import { createToolFiles } from './mcp/tool-files.ts';
import type { GatewayModule } from './modules/module.ts';
import { createSchema, endpointsOf, findUndeclared } from './modules/schema.ts';
import type { Connect } from './network/connector.ts';
import { createRateLimiters } from './rate-limits/rate-limiter.ts';
import { describeStore } from './redis/redis.ts';
import type { GatewaySettingOptions } from './settings/gateway-options.gen.ts';
import { parseOptions, toSentence } from './settings/parse.ts';
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
  const { now = () => new Date(), monotonicNow } = deps;
  const logger = deps.logger === undefined ? createJsonLogger('warn') : toPino(deps.logger);
  const current = state ?? createGatewayState(logger, monotonicNow);

  // GraphQL
  const schema = createSchema(settings, modules, deps.onUndeclaredCall);
  const [unknownScope] = modules.length === 0 ? [] : findScopesWithoutField(schema, settings.clients);
  if (unknownScope !== undefined) {
    throw new TypeError(toSentence(unknownScope));
  }
  const undeclared = modules.length === 0 ? [] : findUndeclared(schema);
  if (undeclared.length > 0) {
    logger.warn({ fields: undeclared }, UNDECLARED);
  }
  const engine = createEngine(schema, settings, current.telemetry.counts.deprecated.declare, plugins);

  // Clients
  const tools = settings.mcp && createToolFiles(settings.mcp, { schema, limits: settings });
  const trustedDocuments = new TrustedDocuments(settings, tools, logger, monotonicNow);
  const auth = createAuth(settings, current.remoteKeys, (id) => trustedDocuments.hashOf(id), logger, now);

  // Upstream, after all that can be invalid: what is opened here stays open until it is disposed.
  const telemetry = createTelemetry(settings, current.telemetry, auth.tenantOf, logger, now);
  const upstreams = new Upstreams(settings, {
    ...deps,
    ...telemetry.reporters,
    logger,
    now,
    endpoints: endpointsOf(schema),
    cacheStores: current.cacheStores,
  });
  const limiter = current.rateLimiters.open(settings.rateLimits.store);
  const watched = [...trustedDocuments.files, ...upstreams.files, ...auth.files];
  const files = watchFiles(watched, settings.reloadSeconds, logger);

  // HTTP
  const http = createHttp({
    settings,
    auth,
    telemetry,
    trustedDocuments,
    prepare: engine.prepare,
    upstreams,
    limiter,
    authenticate,
    logger,
    now,
    monotonicNow,
  });
  const mcp = tools && createMcp(http, tools, schema);
  const host = http.open(mcp, createPages(http, modules.length > 0 ? schema : undefined));

  // Metrics
  const metricsSnapshot = () =>
    telemetry.samples(upstreams.states(), watched, limiter.status(), upstreams.cacheStore?.stats());

  // Lifecycle
  async function dispose(): Promise<void> {
    files[Symbol.dispose]();
    await http.running.finished();
    await Promise.all([upstreams.close(), limiter[Symbol.asyncDispose](), engine.dispose()]);
    telemetry.audit?.[Symbol.dispose]();
  }
  return {
    ...host,
    endpoint: settings.endpoint,
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
