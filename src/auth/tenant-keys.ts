import { memoizeBySource } from '../lib/memoize.ts';
import type { SecretFiles, SecretProblem } from '../lib/secret-files.ts';
import { type Credential, isCredential } from './credentials.ts';

/** What the service is called with on behalf of each tenant. */
export interface TenantKeys {
  credentialOf(tenant: string): Credential | undefined;
  /** Whose key this is. */
  tenantOf(credential: Credential): string | undefined;
}

/** What tenants may be called, so that the name can stand in a claim, a file name and a log. */
export const TENANT_NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Reads the keys of tenants by their names; a key that was changed in its file counts from the next time that files are read. */
export function createTenantKeys(keys: SecretFiles): TenantKeys {
  const present = memoizeBySource(() => keys.secrets(), index);
  return {
    credentialOf: (tenant) => present().byTenant.get(tenant),
    tenantOf: (credential) => present().byCredential.get(credential),
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

/** What is wrong with the tenants' names or keys; undefined: nothing. Nothing of a key is said. */
export function findTenantProblem(keys: ReadonlyMap<string, string>): SecretProblem | undefined {
  const owners = new Map<string, string>();
  for (const [tenant, key] of keys) {
    const problemOf = (problem: string) => ({ name: tenant, problem });
    if (!TENANT_NAME.test(tenant)) {
      const shown = JSON.stringify(tenant.slice(0, 128));
      return problemOf(`${shown} is no name of a tenant: letters, digits, dots, dashes and underscores, 128 at most`);
    }
    if (!isCredential(`ApiKey ${key}`)) {
      return problemOf(
        `the key of tenant ${tenant} is empty, too long, or holds a space or another character that no key has`,
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
