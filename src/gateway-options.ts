import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { GatewayContext } from './graphql/context.ts';
import type { GatewaySettingOptions } from './settings/gateway-options.gen.ts';
import type { UpstreamDeps } from './upstream/client.ts';
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
  plugins?: readonly Plugin<GatewayContext>[];
}

/** Dependencies of a gateway. */
export interface GatewayDeps extends Pick<UpstreamDeps, 'monotonicNow' | 'random'> {
  /** Logger of operations and problems. @default pino on standard output, with warnings and errors only */
  logger?: Logger;
  /** Returns the current time. @default () => new Date() */
  now?: () => Date;
  /** Opens connections to the service. @default over the network */
  connect?: Connect;
}
