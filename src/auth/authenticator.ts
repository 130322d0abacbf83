// Identifies callers by the API key or token in their `Authorization` header.

import { ANONYMOUS, AuthenticationError, type Identity, isCredential } from './identity.ts';
import type { TenantKeys } from './tenants.ts';
import type { VerifiedToken, VerifiedTokenCache } from './token-verifier.ts';

/** Services that turn a token into an identity. */
export interface TokenAuthentication {
  verifiedTokens: VerifiedTokenCache;
  tenantKeys: TenantKeys;
}

/** `Bearer`, one space, and three Base64 parts separated by dots (RFC 6750, 2.1; RFC 7519). */
const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/;

export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Creates the authenticator for API keys and tokens.
 *
 * @param servesServers whether API keys are accepted
 * @param browser services for tokens; undefined if tokens are not accepted
 */
export function createAuthenticator(servesServers: boolean, browser: TokenAuthentication | undefined) {
  return {
    /** Returns the identity if nothing has to be verified; otherwise undefined, and `identify` must be called. */
    identifyNow(authorization: string | undefined): Identity | undefined {
      if (authorization === undefined) {
        return ANONYMOUS;
      }
      if (isCredential(authorization)) {
        return servesServers
          ? {
              clientKind: 'server',
              credential: authorization,
              upstream: browser?.tenantKeys.upstreamOfKey(authorization),
              scopes: 'all',
              documents: undefined,
              callerId: authorization,
            }
          : undefined;
      }
      const verified = browser?.verifiedTokens.get(authorization);
      return verified && browser && identityOf(verified, browser.tenantKeys);
    },
    /**
     * Verifies the credential, which `identifyNow` couldn't, and returns the identity.
     *
     * @throws {AuthenticationError}
     */
    async identify(authorization = ''): Promise<Identity> {
      if (isCredential(authorization)) {
        throw new AuthenticationError('CREDENTIAL_NOT_ACCEPTED');
      }
      if (browser === undefined || !/^Bearer /.test(authorization)) {
        throw malformed(servesServers, browser !== undefined);
      }
      const token = BEARER.exec(authorization)?.[1];
      if (token === undefined) {
        throw new AuthenticationError('TOKEN_INVALID');
      }
      const identity = identityOf(await browser.verifiedTokens.verify(authorization, token), browser.tenantKeys);
      if (identity === undefined) {
        throw new AuthenticationError('TENANT_UNKNOWN');
      }
      return identity;
    },
  };
}

/** Returns undefined if the gateway has no API key of the tenant, or the tenant has moved to another upstream than the token's. */
function identityOf(token: VerifiedToken, tenantKeys: TenantKeys): Identity | undefined {
  const credential = tenantKeys.credentialOf(token.tenant);
  const upstream = tenantKeys.upstreamOf(token.tenant);
  if (credential === undefined || (token.upstream !== undefined && token.upstream !== (upstream ?? ''))) {
    return undefined;
  }
  return { ...token, clientKind: 'browser', credential, upstream };
}

function malformed(acceptsKeys: boolean, acceptsTokens: boolean): AuthenticationError {
  const key = '"Authorization: ApiKey <your key>"';
  const token = '"Authorization: Bearer <your token>"';
  const forms = [...(acceptsKeys ? [key] : []), ...(acceptsTokens ? [token] : [])].join(' or ');
  return forms === ''
    ? new AuthenticationError('CREDENTIAL_NOT_ACCEPTED')
    : new AuthenticationError('CREDENTIAL_MALFORMED', {
        message: `The Authorization header is malformed. Send ${forms}, with one space in between.`,
      });
}
