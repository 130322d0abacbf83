import type { Secret } from '../lib/secret-files.ts';
import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { Scope } from './scopes.ts';

/** What becomes of a document that is in no manifest: it is served, served and noted in the log, or refused. */
export type TrustedDocumentsMode = 'off' | 'log' | 'enforce';

/** What every kind of client has. */
export interface ClientKindOptions {
  /** Exact origins whose pages may call, such as `https://app.example.com`. @default none */
  corsOrigins?: readonly string[] | undefined;
  /** @default 'off' */
  trustedDocuments?: TrustedDocumentsMode | undefined;
  /** For each identity by itself. @default none */
  rateLimit?: RateLimit | undefined;
}

/** An issuer of tokens that browsers show. */
export interface TokenIssuer {
  /** The claim `iss`, exactly. */
  issuer: string;
  /** What the claim `aud` must be or hold. */
  audience: string | readonly string[];
  /** Where the issuer publishes its keys (JWKS), by https; http on this machine alone. Give this or `publicKey`. */
  jwks?: URL | string | undefined;
  /** The issuer's public key, as PEM or JSON Web Key. */
  publicKey?: Secret | undefined;
  /** Which signatures are taken. @default ['RS256', 'ES256'] */
  algorithms?: readonly SignatureAlgorithm[] | undefined;
  /** How much the issuer's clock may differ, in seconds. @default 5 */
  clockSkewSeconds?: number | undefined;
  /** The claim that names the tenant. Give this or `tenant`. */
  tenantClaim?: string | undefined;
  /** The tenant of everybody whom the issuer signs in. */
  tenant?: string | undefined;
  /** The tenants that `tenantClaim` may name. @default all of them */
  tenants?: readonly string[] | undefined;
  /** The claim that lists scopes: a text with spaces between, or a list. @default 'scope' */
  scopeClaim?: string | undefined;
}

/** Signatures by key pairs; a shared secret or none cannot be asked for. */
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

/** Frontends: `Authorization: Bearer <token>`. */
export interface BrowserClientOptions extends ClientKindOptions {
  /** Whose tokens are taken; may be none where client tokens are. */
  issuers?: readonly TokenIssuer[] | undefined;
  /** The most that any token can permit, whatever it says. @default none */
  scopes?: readonly Scope[] | undefined;
  /** The service's API key of each tenant, without the word ApiKey. */
  tenants?: Readonly<Record<string, Secret>> | undefined;
  /** A folder of such keys: a file for each tenant, named like it. */
  tenantKeysDirectory?: string | undefined;
  /** Tokens that the gateway signs itself, for servers that hold a tenant's key. @default none */
  clientTokens?: ClientTokenOptions | undefined;
}

/** Tokens for frontends, which servers fetch from the gateway. */
export interface ClientTokenOptions {
  /** Secrets of 32 characters or more. The first one signs; all of them are taken, so that the first can be replaced. */
  secrets: readonly Secret[];
  /** The claims `iss` and `aud`. @default 'notigraph' */
  issuer?: string | undefined;
  /** How long a token is valid at most, in seconds. @default 3600 */
  maxLifetimeSeconds?: number | undefined;
  /** Tokens for one tenant. @default 60 in 60 seconds */
  rateLimit?: RateLimit | undefined;
}

/** Whom a gateway serves. */
export interface ClientsOptions {
  /** Servers that send the service's API key; false: they are refused. @default {} */
  server?: ClientKindOptions | false | undefined;
  /** @default none */
  browser?: BrowserClientOptions | undefined;
}
