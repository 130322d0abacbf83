// Selects the upstream of each request by its path, its host or the tenant of its credential.

import type { Identity } from '../../auth/identity.ts';
import { refuse } from '../../errors/codes.ts';
import { memoize } from '../../lib/memoize.ts';
import { defaultUpstream, type GatewaySettings } from '../../settings/settings.ts';
import { hostnameOf, MAX_HOSTS, pathOf } from '../head.ts';
import type { IncomingRequest } from '../message.ts';

/**
 * Creates the selector of upstreams. It selects only from the configured ones: nothing that a client sends is a name.
 *
 * @param endpoints paths of all endpoints that call upstreams or issue tokens for them
 */
export function createUpstreamSelector(upstreams: GatewaySettings['upstreams'], endpoints: readonly string[]) {
  const entries = Object.entries(upstreams ?? {});
  const prefixes = entries.flatMap(([name, { pathPrefix }]) =>
    pathPrefix === undefined ? [] : [{ name, pathPrefix }],
  );
  const byPath = new Map(
    prefixes.flatMap(({ name, pathPrefix }) => endpoints.map((endpoint) => [pathPrefix + endpoint, name])),
  );
  const byHost = new Map(entries.flatMap(([name, { hosts = [] }]) => hosts.map((host) => [host, name])));
  const findByHost = memoize((host) => byHost.get(hostnameOf(host)), MAX_HOSTS);
  const fallback = defaultUpstream(upstreams);

  function select(
    request: IncomingRequest,
    { clientKind, upstreamName: tenantUpstream }: Pick<Identity, 'clientKind' | 'upstreamName'>,
  ): string | undefined {
    if (upstreams === undefined) {
      return undefined;
    }
    const path = byPath.get(pathOf(request));
    const host = findByHost(request.host ?? '');
    const selected = tenantUpstream ?? (clientKind === 'browser' ? undefined : (path ?? host ?? fallback));
    if (selected === undefined) {
      throw refuse('MISDIRECTED_REQUEST', 'This host and path select no upstream. Use the address of one.');
    }
    if ((path ?? selected) !== selected || (host ?? selected) !== selected) {
      throw refuse(
        'MISDIRECTED_REQUEST',
        tenantUpstream === undefined
          ? 'The host and the path select different upstreams. Use the address of one.'
          : "The credential's tenant has another upstream than this host or path. Use the address of the tenant's upstream.",
      );
    }
    return selected;
  }

  return {
    /** Returns the paths at which an endpoint is served: its own, and one for each upstream with a prefix. */
    pathsOf: (endpoint: string): ReadonlySet<string> =>
      new Set([endpoint, ...prefixes.map(({ pathPrefix }) => pathPrefix + endpoint)]),
    /**
     * Returns the name of the upstream; undefined if there is only one.
     *
     * @param caller with the upstream of its tenant, which is the only one that the tenant's key may be sent to
     * @throws {Refusal} MISDIRECTED_REQUEST
     */
    select,
    /**
     * Adds the upstream of a request to the identity of its caller. The same key at two upstreams is two callers.
     *
     * @throws {Refusal} MISDIRECTED_REQUEST
     */
    identify(request: IncomingRequest, identity: Identity): Identity {
      const upstreamName = select(request, identity);
      return upstreamName === undefined
        ? identity
        : { ...identity, upstreamName, callerId: ['upstream', upstreamName, identity.callerId].join('\n') };
    },
  };
}
