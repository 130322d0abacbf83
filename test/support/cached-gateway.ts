// Starts gateways with a cache, in front of a service whose records change.

import type { Gateway, GatewayOptions } from '../../src/gateway.ts';
import { startGateway, type TestDeps } from './gateway.ts';
import { healthyResponse } from './healthy-service.ts';
import type { Script, ServiceResponse } from './service.ts';

/** Gateway with a cache in front of a service whose records have a version as their name. */
export type CachedGateway = Awaited<ReturnType<typeof startCachedGateway>>;

export const READ_WORKFLOW = '{ workflow(idOrIdentifier: "welcome") { name } }';

/** Starts it with the default settings of the cache. */
export async function startCachedGateway(options: Partial<GatewayOptions> = {}, deps: TestDeps = {}) {
  let version = 0;
  const script: Script = ({ method, path }) => respondTo(method, path, `v${version}`);
  const gateway = await startGateway({ service: script, cache: true, ...options }, deps);
  return {
    ...gateway,
    /** Gives the records the next version. */
    change(): void {
      version += 1;
      gateway.service.script = script;
    },
  };
}

/** Sends an operation to a gateway that has no server. @returns the body of the response */
export async function fetchFrom(gateway: Gateway, query: string, { path = '', key = 'a', variables = {} } = {}) {
  const request = new Request(`http://localhost${path}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `ApiKey ${key}` },
    body: JSON.stringify({ query, variables }),
  });
  return (await gateway.fetch(request)).json();
}

/** Returns the response of a service whose records have the given name. */
export const respondTo = (method: string, path: string, name: string): ServiceResponse =>
  healthyResponse(
    { method, path },
    {
      workflow: { _id: 'W1', name, triggers: [{ type: 'event', identifier: 'welcome', variables: [] }] },
      group: { name },
      count: Number(name.slice(1)),
    },
  );
