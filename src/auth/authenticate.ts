// Identifies callers by the API key or token in their `Authorization` header, and rejects all other credentials.

import type { Logger } from 'pino';
import { type Refusal, refuse } from '../errors/codes.ts';
import { toPrintable } from '../lib/text.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import {
  ANONYMOUS,
  AuthenticationError,
  createClientRules,
  type Identity,
  isCredential,
  normalizeScheme,
} from './identity.ts';
import type { RemoteKeys } from './signing-keys.ts';
import type { TenantKeys } from './tenants.ts';
import { createBrowserAccess } from './tokens/browser-access.ts';
import { type Person, toPerson } from './tokens/token-verifier.ts';

export type Scheme = 'ApiKey' | 'Bearer';

export type Auth = ReturnType<typeof createAuth>;

/**
 * Creates the authentication of a gateway, with the rules for its callers.
 *
 * @param documentOf returns the SHA-256 of the trusted document with this id, or undefined
 * @throws {SecretError} if a key or secret is invalid
 */
export function createAuth(
  settings: GatewaySettings,
  remoteKeys: RemoteKeys,
  documentOf: (id: string) => string | undefined,
  logger: Logger,
  now: () => Date,
) {
  const browser = createBrowserAccess(settings, remoteKeys, documentOf, logger, now);
  const servesServers = settings.clients.server !== false;
  const isServed = (scheme: Scheme) => (scheme === 'ApiKey' ? servesServers : browser !== undefined);
  const schemes = (['ApiKey', 'Bearer'] as const).filter(isServed);

  /** Returns the identity if nothing has to be verified. */
  function identifyNow(authorization: string | undefined): Identity | undefined {
    if (authorization === undefined) {
      return ANONYMOUS;
    }
    if (isCredential(authorization)) {
      const tenant = browser?.tenantKeys.tenantOf(authorization);
      return servesServers
        ? {
            clientKind: 'server',
            credential: authorization,
            upstreamName: tenant && browser?.tenantKeys.upstreamOf(tenant),
            scopes: 'all',
            callerId: authorization,
          }
        : undefined;
    }
    const verified = browser?.verifiedTokens.get(authorization);
    return verified && browser && identityOf(verified, browser.tenantKeys);
  }

  /** @throws {AuthenticationError} if the credential is invalid */
  async function identify(authorization: string): Promise<Identity> {
    if (isCredential(authorization)) {
      throw new AuthenticationError('CREDENTIAL_NOT_ACCEPTED');
    }
    if (browser === undefined || !/^Bearer /.test(authorization)) {
      throw malformed(schemes);
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
  }

  async function verify(authorization: string, requestId: string | undefined): Promise<Identity> {
    try {
      return await identify(authorization);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) {
        throw error;
      }
      if (error.mismatch !== undefined) {
        const { claim, found, expected } = error.mismatch;
        const text = typeof found === 'object' ? JSON.stringify(found) : found;
        const printable = text && toPrintable(text);
        logger.debug({ requestId, claim, found: printable, expected }, 'a token was issued for another gateway');
      }
      throw toRefusal(error, authorization, schemes);
    }
  }

  return {
    /** Accepted schemes of the header `Authorization`. */
    schemes,
    clientRules: createClientRules(settings),
    /**
     * Identifies the caller by the `Authorization` header. Without one, the caller is anonymous.
     *
     * @param requestId id of the request, for the log
     * @throws {Refusal} UNAUTHENTICATED or SIGN_IN_UNAVAILABLE
     */
    authenticate(header: string | undefined, requestId?: string): Identity | Promise<Identity> {
      const authorization = header && normalizeScheme(header);
      return identifyNow(authorization) ?? verify(authorization ?? '', requestId);
    },
    /** Creates the refusal of a request that needs a credential, and has none. */
    missingCredential: (): Refusal =>
      refuse('UNAUTHENTICATED', malformed(schemes, 'missing').message, { headers: challenge(schemes) }),
    /** Returns the identity of a person who is signed in at the host, as `identityOf` does. Undefined if browsers are not served. */
    identifyPerson:
      browser &&
      ((session: Parameters<typeof toPerson>[0]) => identityOf(toPerson(session, browser.ceiling), browser.tenantKeys)),
    clientTokens: browser?.clientTokens,
    /** Returns the tenant that an API key belongs to, if it is one of the configuration's. */
    tenantOf: (credential: string) => browser?.tenantKeys.tenantOf(credential),
    files: browser?.files ?? [],
  };
}

/** Value of `Retry-After` while an issuer's signing keys are unavailable. */
const KEYS_RETRY_SECONDS = 5;

/** `Bearer`, one space, and three Base64 parts separated by dots (RFC 6750, 2.1; RFC 7519). */
const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/;

/** Returns undefined if the gateway has no API key of the tenant, or the tenant has moved to another upstream than the token's. */
function identityOf(token: Person, tenantKeys: TenantKeys): Identity | undefined {
  const credential = tenantKeys.credentialOf(token.tenant);
  const upstreamName = tenantKeys.upstreamOf(token.tenant);
  if (credential === undefined || (token.upstreamName !== undefined && token.upstreamName !== (upstreamName ?? ''))) {
    return undefined;
  }
  return { ...token, clientKind: 'browser', credential, upstreamName };
}

const CREDENTIALS = { ApiKey: '<your key>', Bearer: '<your token>' } as const satisfies Record<Scheme, string>;

function malformed(schemes: readonly Scheme[], problem = 'malformed'): AuthenticationError {
  const forms = schemes.map((scheme) => `"Authorization: ${scheme} ${CREDENTIALS[scheme]}"`).join(' or ');
  return forms === ''
    ? new AuthenticationError('CREDENTIAL_NOT_ACCEPTED')
    : new AuthenticationError('CREDENTIAL_MALFORMED', {
        message: `The Authorization header is ${problem}. Send ${forms}, with one space in between.`,
      });
}

function toRefusal({ message, reason }: AuthenticationError, authorization: string, schemes: readonly Scheme[]) {
  if (reason === 'KEYS_UNAVAILABLE') {
    return refuse('SIGN_IN_UNAVAILABLE', message, { retryAfterSeconds: KEYS_RETRY_SECONDS });
  }
  const isToken = authorization.startsWith('Bearer ');
  const details = isToken ? `, error="invalid_token", error_description="${message}"` : '';
  return refuse('UNAUTHENTICATED', message, { reason, headers: challenge(schemes, details) });
}

/**
 * Returns the header that names the accepted schemes.
 *
 * @param tokenDetails further parameters of the scheme `Bearer`. @default none
 */
function challenge(schemes: readonly Scheme[], tokenDetails = ''): { 'www-authenticate'?: string } {
  const challenges = schemes.map((scheme) => `${scheme} realm="notigraph"${scheme === 'Bearer' ? tokenDetails : ''}`);
  return challenges.length > 0 ? { 'www-authenticate': challenges.join(', ') } : {};
}
