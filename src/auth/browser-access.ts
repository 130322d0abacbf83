import type { Logger } from 'pino';
import { isKeysAddress } from '../lib/origins.ts';
import { createSecretFiles, type SecretFiles } from '../lib/secret-files.ts';
import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { BrowserAudienceOptions, ClientTokenOptions, TokenIssuer } from './audience-options.ts';
import type { BrowserAudience } from './authenticator.ts';
import { readText } from './claims.ts';
import { type ClientTokenKeys, createClientTokenKeys, findSecretProblem } from './client-token-keys.ts';
import { CLIENT_TOKEN_ALGORITHM, type ClientTokens, createClientTokens } from './client-tokens.ts';
import { createFixedKey, createPublishedKeys, findKeyProblem } from './issuer-keys.ts';
import { createTenantKeys, findTenantProblem } from './tenant-keys.ts';
import { createTokenSessions } from './token-sessions.ts';
import { createTokenVerifier, type TrustedIssuer } from './token-verifier.ts';

/** Services for the requests of browsers. */
export interface BrowserAccess extends BrowserAudience {
  /** Issues client tokens; undefined if they are not configured. */
  clientTokens: { clientTokens: ClientTokens; rateLimit: RateLimit } | undefined;
  /** Key and secret files to reload. */
  files: readonly SecretFiles[];
}

export interface BrowserAccessDeps {
  logger: Logger;
  now: () => Date;
  /** Returns the SHA-256 of the trusted document with this id. */
  documentOf: (id: string) => string | undefined;
}

/** Default issuer of client tokens. */
const OWN_ISSUER = 'notigraph';

/** Default limit of client tokens per tenant. */
const TOKENS: RateLimit = { calls: 60, perSeconds: 60 };

/**
 * Creates the services for the requests of browsers.
 *
 * @throws {SecretError} if a key or secret is invalid
 * @throws {TypeError} if two issuers have the same name, or the source of their keys is missing or not trustworthy
 */
export function createBrowserAccess(options: BrowserAudienceOptions, deps: BrowserAccessDeps): BrowserAccess {
  const { issuers = [], scopes = [], tenants, tenantKeysDirectory: directory, clientTokens } = options;
  const { logger, now, documentOf } = deps;
  requireIssuers(options);
  const tenantFiles = createSecretFiles({ ...(tenants && { secrets: tenants }), directory }, findTenantProblem);
  const tenantKeys = createTenantKeys(tenantFiles);
  const ceiling = new Set(scopes);
  const keyFiles: SecretFiles[] = [];

  const trusted = issuers.map((issuer) => {
    const { keys, file } = keysOf(issuer, logger);
    keyFiles.push(...file);
    return trust(issuer, keys);
  });
  let tokens: BrowserAccess['clientTokens'];
  if (clientTokens !== undefined) {
    const secretFiles = createSecretFiles(
      { secrets: Object.fromEntries(clientTokens.secrets.entries()) },
      findSecretProblem,
    );
    const keys = createClientTokenKeys(secretFiles);
    keyFiles.push(secretFiles);
    const { issuer = OWN_ISSUER, maxLifetimeSeconds = 3600, rateLimit = TOKENS } = clientTokens;
    trusted.push(trustOwn(issuer, keys));
    tokens = {
      clientTokens: createClientTokens({ keys, tenantKeys, issuer, ceiling, maxLifetimeSeconds, documentOf, now }),
      rateLimit,
    };
  }

  const sessions = createTokenSessions(createTokenVerifier({ issuers: trusted, ceiling, now }), keyFiles, now);
  return { sessions, tenantKeys, clientTokens: tokens, files: [tenantFiles, ...keyFiles] };
}

/** Validates the issuers. Those of a configuration file are already valid; options of `createGateway` may not be. */
function requireIssuers({ issuers = [], clientTokens }: BrowserAudienceOptions): void {
  const names = issuers.map(({ issuer }) => issuer);
  if (clientTokens !== undefined) {
    names.push(clientTokens.issuer ?? OWN_ISSUER);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new TypeError(`There are two issuers named ${twice}. Use a different name for each.`);
  }
  for (const { issuer, jwks, publicKey } of issuers) {
    if ((jwks === undefined) === (publicKey === undefined)) {
      throw new TypeError(`The issuer ${issuer} needs either jwks or publicKey.`);
    }
    if (jwks !== undefined && !isKeysAddress(String(jwks))) {
      throw new TypeError(`The jwks of the issuer ${issuer} must be an https URL, or an http URL on this machine.`);
    }
  }
}

function keysOf({ jwks, publicKey }: TokenIssuer, logger: Logger) {
  if (publicKey === undefined) {
    return { keys: createPublishedKeys(new URL(jwks ?? ''), logger), file: [] };
  }
  const file = createSecretFiles({ secrets: { publicKey } }, findKeyProblem);
  return { keys: createFixedKey(file), file: [file] };
}

function trust(options: TokenIssuer, keys: TrustedIssuer['keys']): TrustedIssuer {
  const { issuer, audience, algorithms = ['RS256', 'ES256'], clockSkewSeconds = 5, scopeClaim = 'scope' } = options;
  const { tenant, tenantClaim = 'tenant', tenants } = options;
  return {
    issuer,
    audiences: typeof audience === 'string' ? [audience] : audience,
    algorithms,
    keys,
    clockSkewSeconds,
    tenantOf(claims) {
      const named = tenant ?? readText(claims, tenantClaim);
      return named !== undefined && (tenants === undefined || tenants.includes(named)) ? named : undefined;
    },
    scopeClaim,
    restrictsDocuments: false,
  };
}

const trustOwn = (issuer: NonNullable<ClientTokenOptions['issuer']>, keys: ClientTokenKeys): TrustedIssuer => ({
  issuer,
  audiences: [issuer],
  algorithms: [CLIENT_TOKEN_ALGORITHM],
  keys: keys.find,
  clockSkewSeconds: 0,
  tenantOf: (claims) => readText(claims, 'tenant'),
  scopeClaim: 'scope',
  restrictsDocuments: true,
});
