import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import type { GatewayOptions } from '../../src/gateway.ts';
import { SCOPES } from '../../src/settings/scopes.ts';

/** Key pair and a function that signs tokens with it, as an identity provider would. */
export interface TestSigner {
  /** Public key for the gateway, as PEM. */
  readonly publicKey: string;
  /** Signs a token of tenant `acme` with every scope, valid for one hour. Claims and header fields can be overridden. */
  sign(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Returns such a token as the value of an Authorization header. The same claims return the same token. */
  bearer(claims?: JWTPayload): Promise<string>;
}

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'notigraph-test';

/** API keys by tenant. */
export const TENANT_KEYS = { acme: 'key-of-acme', globex: 'key-of-globex' };

/** Creates a signer. @param now clock for the `iat` and `exp` claims */
export function createSigner(now: () => Date = () => new Date()): TestSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const key: KeyObject = createPrivateKey(privateKey);
  const sign: TestSigner['sign'] = (claims = {}, header = {}) => {
    const issuedAt = Math.floor(now().getTime() / 1_000);
    return new SignJWT({
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'user-1',
      tenant: 'acme',
      scope: SCOPES.join(' '),
      iat: issuedAt,
      exp: issuedAt + 3_600,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(key);
  };
  const cache = new Map<string, Promise<string>>();
  return {
    publicKey,
    sign,
    async bearer(claims) {
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
