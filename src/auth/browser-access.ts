// Sets up the authentication of browsers from the settings of issuers, tenants and client tokens.

import type { WatchedFiles } from '../lib/files/file-watcher.ts';
import { createSecretFiles, type SecretChange, type SecretFiles } from '../lib/files/secret-files.ts';
import { isLoopbackHost } from '../lib/urls.ts';
import {
  type BrowserSettings,
  CLIENT_TOKEN_ISSUER,
  type ClientTokenSettings,
  type TokenIssuer,
} from '../settings/clients.ts';
import { requireLength } from '../settings/kinds.ts';
import type { RateLimit } from '../settings/rate-limits.ts';
import type { Settings } from '../settings/settings.ts';
import { createConnector } from '../upstream/transport/connector.ts';
import { createTlsFiles, nameProblems, type TlsFiles } from '../upstream/transport/tls-files.ts';
import type { TokenAuthentication } from './authenticator.ts';
import {
  CLIENT_TOKEN_ALGORITHM,
  type ClientTokenKeys,
  type ClientTokens,
  createClientTokenKeys,
  createClientTokens,
} from './client-tokens.ts';
import { createFixedKey, findKeyProblem, type RemoteKeys } from './signing-keys.ts';
import {
  createTenantKeys,
  createTenantUpstreams,
  findTenantProblem,
  findUpstreamProblem,
  secretsOf,
} from './tenants.ts';
import { createTokenVerifier, createVerifiedTokenCache, readText, type TrustedIssuer } from './token-verifier.ts';

interface BrowserAccess extends TokenAuthentication {
  /** Issues client tokens; undefined if they are not configured. */
  clientTokens: { clientTokens: ClientTokens; rateLimit: RateLimit } | undefined;
  /** Files of keys, secrets and certificates to reload. */
  files: readonly WatchedFiles[];
}

/**
 * Creates the services for browsers. Requires that `clients.browser` is set.
 *
 * @throws {SecretError} if a key or secret is invalid
 */
export function createBrowserAccess(
  { issuers, scopes, tenants = {}, tenantKeys: keyFolder }: BrowserSettings,
  clientTokens: ClientTokenSettings | undefined,
  {
    remoteKeys,
    now,
    documentOf,
    upstreams,
    onTenantChange,
    proxy: generalProxy = 'off',
  }: {
    remoteKeys: RemoteKeys;
    now: () => Date;
    /** Returns the SHA-256 of the trusted document with this id, or undefined. */
    documentOf: (id: string) => string | undefined;
    /** Upstreams by name; undefined if there is only one. */
    upstreams: Settings['upstreams'];
    /** Called after the keys of tenants have changed. */
    onTenantChange: (change: SecretChange) => void;
    /** Proxy to issuers that have no other. @default none */
    proxy: Settings['proxy'];
  },
): BrowserAccess {
  const tenantUpstreams = createTenantUpstreams({ tenants, ...(keyFolder && { tenantKeys: keyFolder }) }, upstreams);
  const tenantFiles = createSecretFiles(
    { name: 'tenant keys', secrets: secretsOf(tenants), directory: keyFolder?.directory },
    (keys) => findTenantProblem(keys) ?? findUpstreamProblem(keys, tenantUpstreams),
    onTenantChange,
  );
  const tenantKeys = createTenantKeys(tenantFiles, tenantUpstreams);
  const ceiling = new Set(scopes);
  const keyFiles: SecretFiles[] = [];
  const certificates: TlsFiles[] = [];

  function remoteKeysOf({ issuer, jwks = '', ca, proxy = generalProxy }: TokenIssuer): TrustedIssuer['keys'] {
    const url = new URL(jwks);
    const tls = ca === undefined ? undefined : nameProblems(createTlsFiles({ ca }), () => `ca of the issuer ${issuer}`);
    if (tls !== undefined) {
      certificates.push(tls);
    }
    // http to this machine is trusted, but not to that of a proxy.
    const route = { proxy: isLoopbackHost(url.hostname) ? 'off' : proxy };
    return remoteKeys(url, createConnector(route, { tls }));
  }

  const trusted = issuers.map((issuer) => {
    if (issuer.publicKey === undefined) {
      return trust(issuer, remoteKeysOf(issuer));
    }
    const file = createSecretFiles({ name: 'public keys', secrets: { publicKey: issuer.publicKey } }, findKeyProblem);
    keyFiles.push(file);
    return trust(issuer, createFixedKey(file));
  });
  let tokens: BrowserAccess['clientTokens'];
  if (clientTokens !== undefined) {
    const secretFiles = createSecretFiles(
      { name: 'client token secrets', secrets: Object.fromEntries(clientTokens.secrets.entries()) },
      requireLength('clientTokenSecret'),
    );
    const keys = createClientTokenKeys(secretFiles);
    keyFiles.push(secretFiles);
    const { maxLifetimeSeconds, rateLimit } = clientTokens;
    trusted.push(trustClientTokens(keys));
    tokens = {
      clientTokens: createClientTokens({ keys, tenantKeys, ceiling, maxLifetimeSeconds, documentOf, now }),
      rateLimit,
    };
  }

  const verifiedTokens = createVerifiedTokenCache(createTokenVerifier(trusted, ceiling, now), keyFiles, now);
  return { verifiedTokens, tenantKeys, clientTokens: tokens, files: [tenantFiles, ...keyFiles, ...certificates] };
}

/** Difference that is accepted between the clocks of an issuer and the gateway, in seconds. With NTP, clocks differ by less than one. */
const CLOCK_SKEW_SECONDS = 5;

function trust(options: TokenIssuer, keys: TrustedIssuer['keys']): TrustedIssuer {
  const { issuer, audience, algorithms, scopeClaim } = options;
  const { tenant, tenantClaim = 'tenant', tenants } = options;
  return {
    issuer,
    audiences: typeof audience === 'string' ? [audience] : audience,
    algorithms,
    keys,
    clockSkewSeconds: CLOCK_SKEW_SECONDS,
    tenantOf(claims) {
      const named = tenant ?? readText(claims, tenantClaim);
      return named !== undefined && (tenants === undefined || tenants.includes(named)) ? named : undefined;
    },
    scopeClaim,
    restrictsDocuments: false,
    restrictsUpstream: false,
  };
}

const trustClientTokens = (keys: ClientTokenKeys): TrustedIssuer => ({
  issuer: CLIENT_TOKEN_ISSUER,
  audiences: [CLIENT_TOKEN_ISSUER],
  algorithms: [CLIENT_TOKEN_ALGORITHM],
  keys: keys.find,
  clockSkewSeconds: 0,
  tenantOf: (claims) => readText(claims, 'tenant'),
  scopeClaim: 'scope',
  restrictsDocuments: true,
  restrictsUpstream: true,
});
