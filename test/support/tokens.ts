// Signs tokens of tenants, and configures gateways to accept them.

import type { GatewayOptions } from '../../src/gateway.ts';
import { SCOPES } from '../../src/settings/scopes.ts';
import { type Claims, createTestKey, signToken } from './issuer.ts';

/** Key pair and functions that sign tokens with it, as an identity provider would. */
export type TestSigner = ReturnType<typeof createSigner>;

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'notigraph-test';

/** API keys by tenant. */
export const TENANT_KEYS = { acme: 'key-of-acme', globex: 'key-of-globex' };

/** Creates a signer. @param now clock for the `iat` and `exp` claims */
export function createSigner(now: () => Date = () => new Date()) {
  const key = createTestKey();
  /** Signs a token of tenant `acme` with every scope, valid for one hour. Claims and header fields can be overridden. */
  async function sign(claims: Claims = {}, header: Claims = {}): Promise<string> {
    const iat = Math.floor(now().getTime() / 1_000);
    const always = { iss: ISSUER, aud: AUDIENCE, sub: 'user-1', tenant: 'acme', scope: SCOPES.join(' ') };
    return signToken({ alg: 'ES256', ...header }, { ...always, iat, exp: iat + 3_600, ...claims }, key);
  }
  const cache = new Map<string, Promise<string>>();
  return {
    /** Public key for the gateway, as PEM. */
    publicKey: key.pem,
    sign,
    /** Returns such a token as the value of an Authorization header. The same claims return the same token. */
    async bearer(claims?: Claims): Promise<string> {
      const key = JSON.stringify(claims, (_, value) => (value === undefined ? 'left out' : value));
      const token = cache.get(key) ?? sign(claims);
      cache.set(key, token);
      return `Bearer ${await token}`;
    },
  };
}

/** Options of `clients`. */
export type ClientsOptions = NonNullable<GatewayOptions['clients']>;

/** Options of `clients.browser`. */
export type BrowserOptions = NonNullable<ClientsOptions['browser']>;

/** Returns the configuration for server clients and for browser clients with tokens of the signer. */
export const clientsOf = (
  { publicKey }: TestSigner,
  browser: Partial<BrowserOptions> = {},
  others: Partial<ClientsOptions> = {},
): ClientsOptions => ({
  browser: {
    issuers: [{ issuer: ISSUER, audience: AUDIENCE, publicKey, tenantClaim: 'tenant' }],
    scopes: SCOPES,
    tenants: TENANT_KEYS,
    ...browser,
  },
  ...others,
});
