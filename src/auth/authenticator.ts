import { AuthenticationError } from './authentication-error.ts';
import { isCredential } from './credentials.ts';
import { ANONYMOUS, type Identity } from './identity.ts';
import type { TenantKeys } from './tenant-keys.ts';
import type { VerifiedToken } from './token-verifier.ts';
import type { VerifiedTokenCache } from './verified-token-cache.ts';

/** Finds out who asks. */
export interface Authenticator {
  /** Returns the identity if nothing has to be verified first; undefined: call `identify`. */
  known(authorization: string | undefined): Identity | undefined;
  /** @throws {AuthenticationError} */
  identify(authorization: string | undefined): Promise<Identity>;
}

/** What a token is turned into an identity with. */
export interface TokenAuthentication {
  verifiedTokens: VerifiedTokenCache;
  tenantKeys: TenantKeys;
}

export interface AuthenticatorOptions {
  /** Whether the service's own keys are taken. */
  servesServers: boolean;
  /** undefined: tokens are not taken. */
  browser: TokenAuthentication | undefined;
}

/** `Bearer`, one space, and three parts of Base64 with dots between (RFC 6750, 2.1; RFC 7519). */
const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/;

export function createAuthenticator({ servesServers, browser }: AuthenticatorOptions): Authenticator {
  return {
    known(authorization) {
      if (authorization === undefined) {
        return ANONYMOUS;
      }
      if (isCredential(authorization)) {
        return servesServers
          ? {
              clientKind: 'server',
              credential: authorization,
              scopes: 'all',
              documents: undefined,
              callerId: authorization,
            }
          : undefined;
      }
      const verified = browser?.verifiedTokens.get(authorization);
      return verified && browser && identityOf(verified, browser.tenantKeys);
    },
    async identify(authorization) {
      const known = this.known(authorization);
      if (known !== undefined || authorization === undefined) {
        return known ?? ANONYMOUS;
      }
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

/** undefined: the gateway has no key of its tenant. */
function identityOf(token: VerifiedToken, tenantKeys: TenantKeys): Identity | undefined {
  const { tenant, scopes, documents, callerId } = token;
  const credential = tenantKeys.credentialOf(tenant);
  return credential && { clientKind: 'browser', credential, scopes, documents, callerId };
}

function malformed(takesKeys: boolean, takesTokens: boolean): AuthenticationError {
  const key = 'the word ApiKey, one space, and the API key: "Authorization: ApiKey <your key>"';
  const token = 'the word Bearer, one space, and the token: "Authorization: Bearer <your token>"';
  const forms = [...(takesKeys ? [key] : []), ...(takesTokens ? [token] : [])].join('; or ');
  return forms === ''
    ? new AuthenticationError('CREDENTIAL_NOT_ACCEPTED')
    : new AuthenticationError('CREDENTIAL_MALFORMED', { message: `The Authorization header must be ${forms}.` });
}
