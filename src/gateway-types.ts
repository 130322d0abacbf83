import type { IncomingMessage, RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { HostPlugin } from './http/engine.ts';
import type { McpStreams } from './http/mcp/streams.ts';
import type { Degradations } from './server/health.ts';
import type { GatewaySettingOptions } from './settings/gateway-options.gen.ts';
import type { MetricSamples } from './telemetry/metrics-snapshot.ts';
import type { ServiceDeps } from './upstream/service.ts';
import type { Connect } from './upstream/transport/connector.ts';

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
}

/** Dependencies of a gateway. */
export interface GatewayDeps extends Pick<ServiceDeps, 'monotonicNow' | 'random'> {
  /** Logger of operations and problems. @default pino on standard output, with warnings and errors only */
  logger?: Logger;
  /** Returns the current time. @default () => new Date() */
  now?: () => Date;
  /** Opens connections to the service. @default over the network */
  connect?: Connect;
}

/** Gateway that can be mounted in a server. Dispose it to close its connections. */
export interface Gateway extends AsyncDisposable {
  /** Answers one request of a host that uses the Fetch API. */
  fetch(request: Request): Promise<Response>;
  /** Answers one request of `node:http` or a framework on top of it. */
  listener: RequestListener;
  /** Returns whether a request is for GraphiQL's page or one of its files, which a server should answer even while it sheds load. */
  isPage(request: IncomingMessage): boolean;
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
  /** Returns the metrics so far in Prometheus' text format; empty with `metrics: false`. */
  metrics(): Promise<string>;
  /** Returns the same metrics as plain data, which can be sent to another process or combined with other samples. */
  metricsSnapshot(): MetricSamples[];
  /** Returns the bytes of upstream responses that are being received, for the load shedding of a server. */
  bufferedBytes(): number;
  /** Resolves once connecting to Redis has succeeded or failed. Before, a process counts rate limits on its own, and caches nothing. */
  connected(): Promise<void>;
  /** Returns what doesn't work although requests are served, for health checks. */
  degradations(): Degradations;
  /** Closes the connections to the service once in-flight requests have ended. */
  dispose(): Promise<void>;
}
