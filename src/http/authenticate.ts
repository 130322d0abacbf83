import { AuthenticationError } from '../auth/authentication-error.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Identity } from '../auth/identity.ts';
import type { Refusal } from '../lib/refusal.ts';
import { refuse } from '../settings/refuse.ts';

/** Options of `createAuthenticate`. */
export interface AuthenticateOptions {
  authenticator: Authenticator;
  /** Accepted schemes, for the header `WWW-Authenticate`. */
  schemes: readonly ('ApiKey' | 'Bearer')[];
}

/** Identifies the caller by the `Authorization` header. Without one, the caller is anonymous. */
export type Authenticate = (authorization: string | undefined) => Identity | Promise<Identity>;

/** Value of `Retry-After` while an issuer's signing keys are unavailable. */
const RETRY_AFTER_SECONDS = 5;

/** Creates the step that rejects malformed, forged and expired credentials with UNAUTHENTICATED or SIGN_IN_UNAVAILABLE. */
export function createAuthenticate({ authenticator, schemes }: AuthenticateOptions): Authenticate {
  async function verify(authorization: string | undefined): Promise<Identity> {
    try {
      return await authenticator.identify(authorization);
    } catch (error) {
      throw error instanceof AuthenticationError ? toRefusal(error, authorization, schemes) : error;
    }
  }
  return (authorization) => authenticator.known(authorization) ?? verify(authorization);
}

function toRefusal(
  { message, reason }: AuthenticationError,
  authorization: string | undefined,
  schemes: AuthenticateOptions['schemes'],
): Refusal {
  if (reason === 'KEYS_UNAVAILABLE') {
    return refuse('SIGN_IN_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  const isToken = authorization?.startsWith('Bearer ') && reason !== 'CREDENTIAL_MALFORMED';
  const details = isToken ? `, error="invalid_token", error_description="${message}"` : '';
  return refuse('UNAUTHENTICATED', message, { reason, headers: challenge(schemes, details) });
}

/**
 * Returns the header that names the accepted schemes.
 *
 * @param tokenDetails further parameters of the scheme `Bearer`. @default none
 */
export function challenge(schemes: AuthenticateOptions['schemes'], tokenDetails = ''): { 'www-authenticate'?: string } {
  const challenges = schemes.map((scheme) => `${scheme} realm="notigraph"${scheme === 'Bearer' ? tokenDetails : ''}`);
  return challenges.length > 0 ? { 'www-authenticate': challenges.join(', ') } : {};
}
