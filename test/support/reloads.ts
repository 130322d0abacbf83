import { rename, writeFile } from 'node:fs/promises';
import { AUDIENCE, ISSUER, TENANT_KEYS, type TestSigner } from './tokens.ts';

/** Tenant with a key. */
export type Tenant = keyof typeof TENANT_KEYS;

/** Environment in which configuration files find the keys of all tenants. */
export const TENANT_ENV = { ACME_KEY: TENANT_KEYS.acme, GLOBEX_KEY: TENANT_KEYS.globex };

/**
 * Writes a configuration file with these tenants, a limit for servers that no test reaches, and other settings. Replaces an earlier one at once: on a busy
 * machine, a file that is written in place could stay empty for long enough to be read.
 */
export async function writeConfig(
  path: string,
  { publicKey }: TestSigner,
  tenants: readonly Tenant[],
  others: Readonly<Record<string, unknown>>,
): Promise<void> {
  const config = {
    clients: {
      server: { rateLimit: { calls: 1_000_000, perSeconds: 10_000_000_000 } },
      browser: {
        issuers: [{ issuer: ISSUER, audience: AUDIENCE, publicKey }],
        scopes: ['groups:read'],
        tenants: Object.fromEntries(tenants.map((tenant) => [tenant, { env: `${tenant.toUpperCase()}_KEY` }])),
      },
    },
    ...others,
  };
  await writeFile(`${path}.new`, JSON.stringify(config));
  await rename(`${path}.new`, path);
}
