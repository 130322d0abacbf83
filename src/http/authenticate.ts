import type { Logger } from 'pino';
import { AuthenticationError, type ClaimMismatch } from '../auth/authentication-error.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Identity } from '../auth/identity.ts';
import type { Refusal } from '../lib/refusal.ts';
import { toPrintable } from '../lib/to-printable.ts';
import { refuse } from '../settings/refuse.ts';
import { OVERLOADED_MESSAGE } from './in-flight.ts';

/** Options of `createAuthenticate`. */
export interface AuthenticateOptions {
  authenticator: Authenticator;
  /** Accepted schemes, for the header `WWW-Authenticate`. */
  schemes: readonly ('ApiKey' | 'Bearer')[];
  logger: Pick<Logger, 'debug'>;
  /** Maximum requests whose tokens are being verified, which can take as long as an issuer hangs. One more is OVERLOADED. */
  maxWaiting: number;
}

/**
 * Identifies the caller by the `Authorization` header. Without one, the caller is anonymous.
 *
 * @param requestId id of the request, for the log
 */
export type Authenticate = (authorization: string | undefined, requestId?: string) => Identity | Promise<Identity>;

/** Value of `Retry-After` while an issuer's signing keys are unavailable. */
const RETRY_AFTER_SECONDS = 5;

/** Creates the step that rejects malformed, forged and expired credentials with UNAUTHENTICATED or SIGN_IN_UNAVAILABLE. */
export function createAuthenticate({ authenticator, schemes, maxWaiting, logger }: AuthenticateOptions): Authenticate {
  let waiting = 0;

  function logMismatch({ claim, found, expected }: ClaimMismatch, requestId: string | undefined): void {
    const text = typeof found === 'string' ? found : JSON.stringify(found);
    const shown = found === undefined ? undefined : toPrintable(text);
    logger.debug({ requestId, claim, found: shown, expected }, 'a token was issued for another gateway');
  }

  async function verify(authorization: string | undefined, requestId: string | undefined): Promise<Identity> {
    if (waiting >= maxWaiting) {
      throw refuse('OVERLOADED', OVERLOADED_MESSAGE, { retryAfterSeconds: 1 });
    }
    waiting += 1;
    try {
      return await authenticator.identify(authorization);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) {
        throw error;
      }
      if (error.mismatch !== undefined) {
        logMismatch(error.mismatch, requestId);
      }
      throw toRefusal(error, authorization, schemes);
    } finally {
      waiting -= 1;
    }
  }
  return (authorization, requestId) => authenticator.known(authorization) ?? verify(authorization, requestId);
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
