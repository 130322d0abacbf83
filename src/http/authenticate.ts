// Identifies callers, and rejects credentials.
import type { Logger } from 'pino';
import type { Authenticator } from '../auth/authenticator.ts';
import { AuthenticationError, type ClaimMismatch, type Identity, normalizeScheme } from '../auth/identity.ts';
import { gatewayOverloaded, type Refusal, refuse } from '../errors/codes.ts';
import { toPrintable } from '../lib/text.ts';

/** Authentication scheme of the header `Authorization`. */
export type Scheme = 'ApiKey' | 'Bearer';

/**
 * Identifies the caller by the `Authorization` header. Without one, the caller is anonymous.
 *
 * @param requestId id of the request, for the log
 */
export type Authenticate = (authorization: string | undefined, requestId?: string) => Identity | Promise<Identity>;

/** Value of `Retry-After` while an issuer's signing keys are unavailable. */
const KEYS_RETRY_SECONDS = 5;

/** Creates the step that rejects malformed, forged and expired credentials with UNAUTHENTICATED or SIGN_IN_UNAVAILABLE. */
export function createAuthenticate({
  authenticator,
  schemes,
  maxWaiting,
  logger,
}: {
  authenticator: Authenticator;
  /** Accepted schemes, for the header `WWW-Authenticate`. */
  schemes: readonly Scheme[];
  logger: Pick<Logger, 'debug'>;
  /** Maximum requests whose tokens are being verified, which can take as long as an issuer hangs. One more is OVERLOADED. */
  maxWaiting: number;
}): Authenticate {
  let waiting = 0;

  function logMismatch({ claim, found, expected }: ClaimMismatch, requestId: string | undefined): void {
    const text = typeof found === 'string' ? found : JSON.stringify(found);
    const printable = found === undefined ? undefined : toPrintable(text);
    logger.debug({ requestId, claim, found: printable, expected }, 'a token was issued for another gateway');
  }

  async function verify(authorization: string | undefined, requestId: string | undefined): Promise<Identity> {
    if (waiting >= maxWaiting) {
      throw gatewayOverloaded();
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
  return (header, requestId) => {
    const authorization = header && normalizeScheme(header);
    return authenticator.identifyNow(authorization) ?? verify(authorization, requestId);
  };
}

function toRefusal(
  { message, reason }: AuthenticationError,
  authorization: string | undefined,
  schemes: readonly Scheme[],
): Refusal {
  if (reason === 'KEYS_UNAVAILABLE') {
    return refuse('SIGN_IN_UNAVAILABLE', message, { retryAfterSeconds: KEYS_RETRY_SECONDS });
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
export function challenge(schemes: readonly Scheme[], tokenDetails = ''): { 'www-authenticate'?: string } {
  const challenges = schemes.map((scheme) => `${scheme} realm="notigraph"${scheme === 'Bearer' ? tokenDetails : ''}`);
  return challenges.length > 0 ? { 'www-authenticate': challenges.join(', ') } : {};
}
