/** Why a request is not served; a client can tell what to do, and nothing about keys, tenants or other tokens. */
export type AuthenticationReason =
  | 'CREDENTIAL_MALFORMED'
  | 'CREDENTIAL_NOT_ACCEPTED'
  | 'TOKEN_INVALID'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_NOT_YET_VALID'
  | 'TOKEN_FOR_ANOTHER'
  | 'TENANT_UNKNOWN'
  | 'KEYS_UNAVAILABLE';

const SENTENCES: Record<AuthenticationReason, string> = {
  CREDENTIAL_MALFORMED: 'The Authorization header cannot be read.',
  CREDENTIAL_NOT_ACCEPTED: 'This gateway does not take this kind of credential.',
  TOKEN_INVALID: 'The token is not valid: sign in again.',
  TOKEN_EXPIRED: 'The token has expired: get a new one.',
  TOKEN_NOT_YET_VALID: 'The token is not valid yet.',
  TOKEN_FOR_ANOTHER: 'The token was not issued for this gateway.',
  TENANT_UNKNOWN: 'The token names no tenant of this gateway.',
  KEYS_UNAVAILABLE:
    'Tokens cannot be checked at present, for the keys of their issuer cannot be had: try again in a moment.',
};

/** Says who asks could not be found out. KEYS_UNAVAILABLE is no fault of the token. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';
  readonly reason: AuthenticationReason;

  constructor(reason: AuthenticationReason, options?: ErrorOptions & { message?: string }) {
    super(options?.message ?? SENTENCES[reason], options);
    this.reason = reason;
  }
}
