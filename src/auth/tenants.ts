// Looks up the API key and upstream of each tenant, and the tenant of an API key.

import type { Secret, SecretFiles, SecretProblem } from '../files/secret-files.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import type { BrowserSettings } from '../settings/settings.ts';
import { defaultUpstream, type GatewaySettings } from '../settings/settings.ts';
import { type Credential, isCredential } from './identity.ts';

export type TenantKeys = ReturnType<typeof createTenantKeys>;

/** Form of a tenant's name, which must be usable in claims, file names and logs. */
const TENANT_NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Indexes the API keys of tenants. Changed files take effect when they are next reloaded. */
export function createTenantKeys(keys: SecretFiles, upstreams: TenantUpstreams) {
  const indexOf = memoizeByObject(index);
  const current = () => indexOf(keys.secrets());
  return {
    credentialOf: (tenant: string) => current().byTenant.get(tenant),
    /** Returns the tenant that an API key belongs to. */
    tenantOf: (credential: string) => current().byCredential.get(credential),
    /** Returns the name of the tenant's upstream; undefined if there is only one. */
    upstreamOf: (tenant: string) => upstreams.of(tenant),
  };
}

function index(secrets: ReadonlyMap<string, string>) {
  const byTenant = new Map<string, Credential>();
  const byCredential = new Map<string, string>();
  for (const [tenant, key] of secrets) {
    const credential = `ApiKey ${key}`;
    if (isCredential(credential)) {
      byTenant.set(tenant, credential);
      byCredential.set(credential, tenant);
    }
  }
  return { byTenant, byCredential };
}

/**
 * Returns the first problem of the tenants' names or keys, without quoting a key, or else that of the first tenant that selects no upstream if there is no
 * default one; undefined if there is none.
 *
 * @param upstreams by default, what tenants select is not checked
 */
export function findTenantProblem(
  keys: ReadonlyMap<string, string>,
  upstreams?: TenantUpstreams,
): SecretProblem | undefined {
  const owners = new Map<string, string>();
  for (const [tenant, key] of keys) {
    const problemOf = (problem: string) => ({ name: tenant, problem });
    if (!TENANT_NAME.test(tenant)) {
      const quotedName = JSON.stringify(tenant.slice(0, 128));
      return problemOf(
        `${quotedName} is not a valid tenant name; use at most 128 letters, digits, dots, dashes and underscores`,
      );
    }
    if (!isCredential(`ApiKey ${key}`)) {
      return problemOf(
        `the key of tenant ${tenant} is empty, too long, or contains a space or another invalid character`,
      );
    }
    const other = owners.get(key);
    if (other !== undefined) {
      return problemOf(`the tenants ${other} and ${tenant} have the same key`);
    }
    owners.set(key, tenant);
  }
  const name = [...keys.keys()].find((tenant) => upstreams?.has(tenant) === false);
  return name === undefined
    ? undefined
    : { name, problem: `the tenant ${name} selects no upstream, and none is the default` };
}

type TenantUpstreams = ReturnType<typeof createTenantUpstreams>;

/** Keys of tenants in the configuration, without the upstreams that they select. */
export const secretsOf = (tenants: NonNullable<BrowserSettings['tenants']>): Record<string, Secret> =>
  Object.fromEntries(
    Object.entries(tenants).map(([name, entry]) => [
      name,
      typeof entry === 'object' && 'key' in entry ? entry.key : entry,
    ]),
  );

export function createTenantUpstreams(
  { tenants = {}, tenantKeys }: Pick<BrowserSettings, 'tenants' | 'tenantKeys'>,
  upstreams: GatewaySettings['upstreams'],
) {
  const fallback = defaultUpstream(upstreams);
  const selected = new Map(Object.entries(tenantKeys?.upstreams ?? {}));
  for (const [name, entry] of Object.entries(tenants)) {
    if (typeof entry === 'object' && 'key' in entry) {
      selected.set(name, entry.upstream);
    }
  }
  return {
    /** Returns the name of a tenant's upstream; undefined if there is only one upstream, or the tenant has none. */
    of: (tenant: string) => selected.get(tenant) ?? fallback,
    has: (tenant: string) => upstreams === undefined || selected.has(tenant) || fallback !== undefined,
  };
}
