import type { UpstreamClient } from './client.ts';
import { Endpoints } from './endpoints/index.gen.ts';

/** Endpoints of the service, bound to one caller. `Omit` drops the private field of the class, which plain objects lack. */
export type Upstream = Readonly<Omit<Endpoints, never>>;

/** Binds the endpoints to one caller's client. */
export const bindUpstream = (client: UpstreamClient): Upstream => new Endpoints(client);
