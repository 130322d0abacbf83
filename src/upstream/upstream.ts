import type { UpstreamClient } from './client.ts';
import { bindEndpoints } from './resources/index.gen.ts';

/** Endpoints of the service, bound to one caller. */
export type Upstream = Readonly<ReturnType<typeof bindEndpoints>>;

/** Binds the endpoints to one caller's client. */
export const bindUpstream: (client: UpstreamClient) => Upstream = bindEndpoints;
