import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AuthenticationError } from '../audiences/authentication-error.ts';
import type { Authenticator } from '../audiences/authenticator.ts';
import type { ServerContext } from '../context.ts';

export interface AuthenticationPluginOptions {
  authenticator: Authenticator;
  /** What is taken, for the header `WWW-Authenticate`. */
  schemes: readonly ('ApiKey' | 'Bearer')[];
}

/** When to try again while an issuer's keys cannot be had. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Finds out who asks, before anything is parsed; what is malformed, forged or expired is refused with 401. Without a credential the
 * operation runs: what needs no upstream call answers, every other field is UNAUTHENTICATED.
 */
export const useAuthentication = ({
  authenticator,
  schemes,
}: AuthenticationPluginOptions): Plugin<object, ServerContext> => ({
  async onRequestParse({ request, serverContext }) {
    const authorization = request.headers.get('authorization') ?? undefined;
    try {
      serverContext.identity ??= await authenticator.identify(authorization);
    } catch (error) {
      throw error instanceof AuthenticationError ? refusal(error, authorization, schemes) : error;
    }
  },
});

function refusal(
  { message, reason }: AuthenticationError,
  authorization: string | undefined,
  schemes: AuthenticationPluginOptions['schemes'],
): GraphQLError {
  if (reason === 'KEYS_UNAVAILABLE') {
    return new GraphQLError(message, {
      extensions: {
        code: 'SIGN_IN_UNAVAILABLE',
        retryable: true,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        http: { status: 503, headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
      },
    });
  }
  const isToken = authorization?.startsWith('Bearer ') && reason !== 'CREDENTIAL_MALFORMED';
  const challenges = schemes.map((scheme) =>
    scheme === 'Bearer' && isToken
      ? `Bearer realm="notigraph", error="invalid_token", error_description="${message}"`
      : `${scheme} realm="notigraph"`,
  );
  return new GraphQLError(message, {
    extensions: {
      code: 'UNAUTHENTICATED',
      reason,
      http: { status: 401, headers: challenges.length > 0 ? { 'WWW-Authenticate': challenges.join(', ') } : {} },
    },
  });
}
