// Sets up the authentication of browsers from the settings of issuers, tenants and client tokens.

import type { Logger } from 'pino';
import type { WatchedFiles } from '../../files/file-watcher.ts';
import { createSecretFiles, type SecretFiles } from '../../files/secret-files.ts';
import { isLoopbackHost } from '../../lib/urls.ts';
import { createConnector } from '../../network/connector.ts';
import { createTlsFiles, nameProblems, type TlsFiles } from '../../network/tls-files.ts';
import { requireLength } from '../../settings/kinds.ts';
import { CLIENT_TOKEN_ISSUER, type GatewaySettings, type TokenIssuer } from '../../settings/settings.ts';
import { createFixedKey, findKeyProblem, type RemoteKeys } from '../signing-keys.ts';
import { createTenantKeys, createTenantUpstreams, findTenantProblem, secretsOf } from '../tenants.ts';
import {
  CLIENT_TOKEN_ALGORITHM,
  type ClientTokenKeys,
  type ClientTokens,
  createClientTokenKeys,
  createClientTokens,
} from './client-tokens.ts';
import { createTokenVerifier, createVerifiedTokenCache, readText, type TrustedIssuer } from './token-verifier.ts';

/**
 * Share of the requests in flight that may wait for signing keys, which takes as long as an issuer hangs. Issuers have equal parts of it, so that none takes
 * the room of another.
 */
const WAITING_SHARE = 1 / 2;

/**
 * Creates the services for browsers; undefined if they are not served.
 *
 * @param documentOf returns the SHA-256 of the trusted document with this id, or undefined
 * @throws {SecretError} if a key or secret is invalid
 */
export function createBrowserAccess(
  { clients: { browser }, clientTokens, upstreams, maxInFlightRequests, proxy: generalProxy = 'off' }: GatewaySettings,
  remoteKeys: RemoteKeys,
  documentOf: (id: string) => string | undefined,
  logger: Logger,
  now: () => Date,
) {
  if (browser === undefined) {
    return undefined;
  }
  const { issuers, scopes, tenants = {} } = browser;
  const tenantUpstreams = createTenantUpstreams(browser, upstreams);
  const tenantFiles = createSecretFiles(
    { name: 'tenant keys', secrets: secretsOf(tenants), directory: browser.tenantKeys?.directory },
    (keys) => findTenantProblem(keys, tenantUpstreams),
    (change) => logger.info(change, 'the keys of tenants were reloaded'),
  );
  const tenantKeys = createTenantKeys(tenantFiles, tenantUpstreams);
  const ceiling = new Set(scopes);
  const keyFiles: SecretFiles[] = [];
  const certificates: TlsFiles[] = [];
  const maxWaiting = Math.ceil((WAITING_SHARE * maxInFlightRequests) / issuers.filter(({ jwks }) => jwks).length);

  function remoteKeysOf({ issuer, jwks = '', ca, proxy = generalProxy }: TokenIssuer): TrustedIssuer['keys'] {
    const url = new URL(jwks);
    const tls = ca === undefined ? undefined : nameProblems(createTlsFiles({ ca }), () => `ca of the issuer ${issuer}`);
    if (tls !== undefined) {
      certificates.push(tls);
    }
    // http to this machine is trusted, but not to that of a proxy.
    const route = { proxy: isLoopbackHost(url.hostname) ? 'off' : proxy };
    return remoteKeys(url, createConnector(route, { tls }), maxWaiting);
  }

  const trusted = issuers.map((issuer) => {
    if (issuer.publicKey === undefined) {
      return trust(issuer, remoteKeysOf(issuer));
    }
    const file = createSecretFiles({ name: 'public keys', secrets: { publicKey: issuer.publicKey } }, findKeyProblem);
    keyFiles.push(file);
    const key = createFixedKey(file);
    return trust(issuer, () => key);
  });
  let issued: ClientTokens | undefined;
  if (clientTokens !== undefined) {
    const secretFiles = createSecretFiles(
      { name: 'client token secrets', secrets: Object.fromEntries(clientTokens.secrets.entries()) },
      requireLength('clientTokenSecret'),
    );
    const keys = createClientTokenKeys(secretFiles);
    keyFiles.push(secretFiles);
    trusted.push(trustClientTokens(keys));
    issued = createClientTokens(clientTokens, keys, tenantKeys, ceiling, documentOf, now);
  }

  const verifiedTokens = createVerifiedTokenCache(createTokenVerifier(trusted, ceiling, now), keyFiles, now);
  const files: readonly WatchedFiles[] = [tenantFiles, ...keyFiles, ...certificates];
  return { verifiedTokens, tenantKeys, ceiling, clientTokens: issued, files };
}

function trust(options: TokenIssuer, keys: TrustedIssuer['keys']): TrustedIssuer {
  const { issuer, audience, algorithms, subjectClaim, scopeClaim } = options;
  const { tenant, tenantClaim = 'tenant', tenants } = options;
  return {
    issuer,
    audiences: typeof audience === 'string' ? [audience] : audience,
    algorithms,
    keys,
    tenantOf(claims) {
      const named = tenant ?? readText(claims, tenantClaim);
      return named !== undefined && (tenants === undefined || tenants.includes(named)) ? named : undefined;
    },
    subjectClaim,
    scopeClaim,
    isGateway: false,
  };
}

const trustClientTokens = (keys: ClientTokenKeys): TrustedIssuer => ({
  issuer: CLIENT_TOKEN_ISSUER,
  audiences: [CLIENT_TOKEN_ISSUER],
  algorithms: [CLIENT_TOKEN_ALGORITHM],
  keys: () => keys.find,
  tenantOf: (claims) => readText(claims, 'tenant'),
  subjectClaim: 'sub',
  scopeClaim: 'scope',
  isGateway: true,
});
