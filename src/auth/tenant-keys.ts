import { memoizeBySource } from '../lib/memoize.ts';
import type { SecretFiles, SecretProblem } from '../lib/secret-files.ts';
import { type Credential, isCredential } from './credentials.ts';

/** API keys of the service by tenant. */
export interface TenantKeys {
  /** Returns the credential with the tenant's API key. */
  credentialOf(tenant: string): Credential | undefined;
  /** Returns the tenant that an API key belongs to. */
  tenantOf(credential: Credential): string | undefined;
}

/** Form of a tenant's name, which must be usable in claims, file names and logs. */
export const TENANT_NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Indexes the API keys of tenants. Changed files take effect when they are next reloaded. */
export function createTenantKeys(keys: SecretFiles): TenantKeys {
  const current = memoizeBySource(() => keys.secrets(), index);
  return {
    credentialOf: (tenant) => current().byTenant.get(tenant),
    tenantOf: (credential) => current().byCredential.get(credential),
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

/** Returns the first problem of the tenants' names or keys, without quoting a key, or undefined. */
export function findTenantProblem(keys: ReadonlyMap<string, string>): SecretProblem | undefined {
  const owners = new Map<string, string>();
  for (const [tenant, key] of keys) {
    const problemOf = (problem: string) => ({ name: tenant, problem });
    if (!TENANT_NAME.test(tenant)) {
      const shown = JSON.stringify(tenant.slice(0, 128));
      return problemOf(
        `${shown} is not a valid tenant name; use at most 128 letters, digits, dots, dashes and underscores`,
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
  return undefined;
}
