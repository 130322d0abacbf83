import type { Logger } from 'pino';
import { isKeysAddress } from '../lib/origins.ts';
import { createSecretFiles, type SecretFiles } from '../lib/secret-files.ts';
import type { RateLimit } from '../rate-limits/rate-limiter.ts';
import type { TokenAuthentication } from './authenticator.ts';
import { readText } from './claims.ts';
import type { BrowserClientOptions, ClientTokenOptions, TokenIssuer } from './client-options.ts';
import { type ClientTokenKeys, createClientTokenKeys, findSecretProblem } from './client-token-keys.ts';
import { CLIENT_TOKEN_ALGORITHM, type ClientTokens, createClientTokens } from './client-tokens.ts';
import { createFixedKey, createRemoteJwks, findKeyProblem } from './jwks.ts';
import { createTenantKeys, findTenantProblem } from './tenant-keys.ts';
import { createTokenVerifier, type TrustedIssuer } from './token-verifier.ts';
import { createVerifiedTokenCache } from './verified-token-cache.ts';

/** What browsers are served with. */
export interface BrowserAccess extends TokenAuthentication {
  /** undefined: the gateway signs none. */
  clientTokens: { clientTokens: ClientTokens; rateLimit: RateLimit } | undefined;
  /** Everything that is kept in files, to be looked at again. */
  files: readonly SecretFiles[];
}

export interface BrowserAccessDeps {
  logger: Logger;
  now: () => Date;
  /** The SHA-256 of the trusted document that has this id. */
  documentOf: (id: string) => string | undefined;
}

/** What the gateway calls itself in the tokens that it signs. */
const OWN_ISSUER = 'notigraph';

/** Client tokens that are issued for a tenant. */
const TOKENS: RateLimit = { calls: 60, perSeconds: 60 };

/**
 * @throws {SecretError} when a key or secret cannot be used
 * @throws {TypeError} when the issuers cannot be told apart, or their keys not be trusted
 */
export function createBrowserAccess(options: BrowserClientOptions, deps: BrowserAccessDeps): BrowserAccess {
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

  const verifiedTokens = createVerifiedTokenCache(
    createTokenVerifier({ issuers: trusted, ceiling, now }),
    keyFiles,
    now,
  );
  return { verifiedTokens, tenantKeys, clientTokens: tokens, files: [tenantFiles, ...keyFiles] };
}

/** What the configuration file says of them is looked at before; who mounts a gateway is told here. */
function requireIssuers({ issuers = [], clientTokens }: BrowserClientOptions): void {
  const names = issuers.map(({ issuer }) => issuer);
  if (clientTokens !== undefined) {
    names.push(clientTokens.issuer ?? OWN_ISSUER);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new TypeError(`There are two issuers named ${twice}: tokens could not be told apart.`);
  }
  for (const { issuer, jwks, publicKey } of issuers) {
    if ((jwks === undefined) === (publicKey === undefined)) {
      throw new TypeError(`The issuer ${issuer} needs either jwks or publicKey.`);
    }
    if (jwks !== undefined && !isKeysAddress(String(jwks))) {
      throw new TypeError(`The issuer ${issuer} must publish its keys (jwks) by https; by http on this machine alone.`);
    }
  }
}

function keysOf({ jwks, publicKey }: TokenIssuer, logger: Logger) {
  if (publicKey === undefined) {
    return { keys: createRemoteJwks(new URL(jwks ?? ''), logger), file: [] };
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
