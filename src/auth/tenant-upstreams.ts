import type { Secret } from '../lib/files/secret-files.ts';
import type { BrowserSettings } from '../settings/clients.ts';
import type { Settings } from '../settings/settings.ts';

/** Upstreams that the entries of tenants select. */
export interface TenantUpstreams {
  /** Returns the name of a tenant's upstream; undefined if there is only one upstream, or the tenant has none. */
  of(tenant: string): string | undefined;
  /** Whether a tenant can be served. */
  has(tenant: string): boolean;
}

/** Keys of tenants in the configuration, without the upstreams that they select. */
export const secretsOf = (tenants: NonNullable<BrowserSettings['tenants']>): Record<string, Secret> =>
  Object.fromEntries(
    Object.entries(tenants).map(([name, entry]) => [
      name,
      typeof entry === 'object' && 'key' in entry ? entry.key : entry,
    ]),
  );

/** Creates the mapping of tenants to upstreams. */
export function createTenantUpstreams(
  { tenants = {}, tenantKeys }: Pick<BrowserSettings, 'tenants' | 'tenantKeys'>,
  upstreams: Settings['upstreams'],
): TenantUpstreams {
  const fallback = defaultUpstream(upstreams);
  const selected = new Map(Object.entries(tenantKeys?.upstreams ?? {}));
  for (const [name, entry] of Object.entries(tenants)) {
    if (typeof entry === 'object' && 'key' in entry) {
      selected.set(name, entry.upstream);
    }
  }
  return {
    of: (tenant) => selected.get(tenant) ?? fallback,
    has: (tenant) => upstreams === undefined || selected.has(tenant) || fallback !== undefined,
  };
}

/** Returns the name of the upstream for requests and tenants that select none. */
export const defaultUpstream = (upstreams: Settings['upstreams'] = {}): string | undefined =>
  Object.entries(upstreams).find(([, upstream]) => upstream.default)?.[0];
