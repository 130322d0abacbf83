import type { Secret } from '../lib/secret-files.ts';
import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { Scope } from './scopes.ts';

/** Handling of documents that are in no manifest: accept, accept and log, or reject. */
export type TrustedDocumentsMode = 'off' | 'log' | 'enforce';

/** Options of every kind of client. */
export interface AudienceOptions {
  /** Allowed CORS origins, exact, such as `https://app.example.com`. @default none */
  corsOrigins?: readonly string[] | undefined;
  /** Handling of documents that are in no manifest. @default 'off' */
  trustedDocuments?: TrustedDocumentsMode | undefined;
  /** Rate limit per caller. @default none */
  rateLimit?: RateLimit | undefined;
}

/** Identity provider whose tokens browsers send. */
export interface TokenIssuer {
  /** Exact value of the claim `iss`. */
  issuer: string;
  /** Accepted values of the claim `aud`. */
  audience: string | readonly string[];
  /** URL of the issuer's JWKS: https, or http on this machine. Use either this or `publicKey`. */
  jwks?: URL | string | undefined;
  /** The issuer's public key, as PEM or JWK. */
  publicKey?: Secret | undefined;
  /** Accepted signature algorithms. @default ['RS256', 'ES256'] */
  algorithms?: readonly SignatureAlgorithm[] | undefined;
  /** Maximum clock difference to the issuer, in seconds. @default 5 */
  clockSkewSeconds?: number | undefined;
  /** Claim that contains the tenant. Use either this or `tenant`. */
  tenantClaim?: string | undefined;
  /** Tenant of all of the issuer's users. */
  tenant?: string | undefined;
  /** Tenants that `tenantClaim` may contain. @default all */
  tenants?: readonly string[] | undefined;
  /** Claim that contains the scopes, as a space-separated string or a list. @default 'scope' */
  scopeClaim?: string | undefined;
}

/** Supported signature algorithms: only those with key pairs, neither shared secrets nor `none`. */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Options of browsers, which send `Authorization: Bearer <token>`. */
export interface BrowserAudienceOptions extends AudienceOptions {
  /** Accepted token issuers; may be empty if `clientTokens` is set. */
  issuers?: readonly TokenIssuer[] | undefined;
  /** Scopes that tokens can grant; others are ignored. @default none */
  scopes?: readonly Scope[] | undefined;
  /** The service's API key per tenant, without the word ApiKey. */
  tenants?: Readonly<Record<string, Secret>> | undefined;
  /** Folder with a file per tenant that contains its API key; the file name is the tenant. */
  tenantKeysDirectory?: string | undefined;
  /** Tokens that the gateway issues to servers with a tenant's API key. @default none */
  clientTokens?: ClientTokenOptions | undefined;
}

/** Options of client tokens: tokens for frontends, which servers request from the gateway. */
export interface ClientTokenOptions {
  /** Secrets of at least 32 characters. The first one signs; all are accepted, so that secrets can be rotated. */
  secrets: readonly Secret[];
  /** Value of the claims `iss` and `aud`. @default 'notigraph' */
  issuer?: string | undefined;
  /** Maximum lifetime of a token, in seconds. @default 3600 */
  maxLifetimeSeconds?: number | undefined;
  /** Tokens issued per tenant. @default 60 per 60 seconds */
  rateLimit?: RateLimit | undefined;
}

/** Kinds of client that a gateway serves. */
export interface AudiencesOptions {
  /** Servers, which send the service's API key; false rejects them. @default {} */
  server?: AudienceOptions | false | undefined;
  /** Browsers, which send a token. @default none */
  browser?: BrowserAudienceOptions | undefined;
}
