import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import type { GatewayOptions } from '../../src/gateway.ts';
import { SCOPES } from '../../src/settings/scopes.ts';

/** Somebody who signs people in: a key pair, and tokens signed with it. */
export interface TestSigner {
  /** What the gateway checks the tokens with, as PEM. */
  readonly publicKey: string;
  /** Signs a token of tenant `acme` that is valid for an hour and permits every scope; claims and header can be replaced. */
  sign(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** The same as a header's value; the same token for the same claims. */
  bearer(claims?: JWTPayload): Promise<string>;
}

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'notigraph-test';

/** Keys of the service, by tenant. */
export const TENANT_KEYS = { acme: 'key-of-acme', globex: 'key-of-globex' };

/** @param now the clock of its tokens */
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
  const signed = new Map<string, Promise<string>>();
  return {
    publicKey,
    sign,
    async bearer(claims) {
      const key = JSON.stringify(claims, (_, value) => (value === undefined ? 'left out' : value));
      const token = signed.get(key) ?? sign(claims);
      signed.set(key, token);
      return `Bearer ${await token}`;
    },
  };
}

/** Options of `clients`. */
export type ClientsOptions = NonNullable<GatewayOptions['clients']>;

/** Options of `clients.browser`. */
export type BrowserOptions = NonNullable<ClientsOptions['browser']>;

/** Servers, and browsers whose tokens the signer signs. */
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
