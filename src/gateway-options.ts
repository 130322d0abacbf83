import type { RequestListener } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { AudiencesOptions } from './audiences/audience-options.ts';
import type { GatewayContext } from './graphql/context.ts';
import type { DocumentLimits } from './graphql/documents/document-limits.ts';
import type { ExecutionLimits } from './graphql/executor/limits.ts';
import type { MetricFigures } from './metrics/figures.ts';
import type { Manifest } from './trusted-documents/manifest.ts';
import type { UpstreamOptions } from './upstream/client.ts';
import type { DispatcherOptions } from './upstream/dispatcher.ts';

/** What a gateway is made for. */
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
  audiences?: AudiencesOptions;
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
  /** Returns the bytes of upstream responses that are being received, for the load shedding of a server. */
  bufferedBytes(): number;
  /** Closes the connections to the upstream service, when the calls that run have ended. */
  dispose(): Promise<void>;
}
