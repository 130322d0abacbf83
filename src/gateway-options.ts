import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { AudiencesOptions } from './audiences/audience-options.ts';
import type { MetricFigures } from './metrics/figures.ts';
import type { DocumentLimits } from './plugins/document-limits.ts';
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
  /** Whom it serves: servers with the service's key, browsers with tokens. @default only servers */
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
