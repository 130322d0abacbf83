/** Reason for rejecting a credential. Tells the client what to do, but nothing about keys, tenants or other tokens. */
export type AuthenticationReason =
  | 'CREDENTIAL_MALFORMED'
  | 'CREDENTIAL_NOT_ACCEPTED'
  | 'TOKEN_INVALID'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_NOT_YET_VALID'
  | 'TOKEN_FOR_ANOTHER'
  | 'TENANT_UNKNOWN'
  | 'KEYS_UNAVAILABLE';

/** Default message for each reason. */
const MESSAGES: Record<AuthenticationReason, string> = {
  CREDENTIAL_MALFORMED: 'The Authorization header is malformed.',
  CREDENTIAL_NOT_ACCEPTED: 'This gateway does not accept this kind of credential.',
  TOKEN_INVALID: 'The token is invalid. Sign in again.',
  TOKEN_EXPIRED: 'The token has expired. Get a new one.',
  TOKEN_NOT_YET_VALID: 'The token is not valid yet.',
  TOKEN_FOR_ANOTHER: 'The token was not issued for this gateway.',
  TENANT_UNKNOWN: 'The token contains no tenant that this gateway knows.',
  KEYS_UNAVAILABLE:
    "The issuer's signing keys are unavailable, so the token cannot be verified. Try again in a moment.",
};

/** Claim of a token that is for another gateway. For the log, because the response doesn't say which one it is. */
export interface ClaimMismatch {
  claim: string;
  /** Value in the token, which has any type. */
  found: unknown;
  /** Accepted values. */
  expected: readonly string[];
}

/** Error of a credential that is invalid, or that can't be verified at the moment (KEYS_UNAVAILABLE). */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';
  readonly reason: AuthenticationReason;
  /** Only with TOKEN_FOR_ANOTHER. */
  readonly mismatch: ClaimMismatch | undefined;

  constructor(
    reason: AuthenticationReason,
    options?: ErrorOptions & { message?: string; mismatch?: ClaimMismatch | undefined },
  ) {
    super(options?.message ?? MESSAGES[reason], options);
    this.reason = reason;
    this.mismatch = options?.mismatch;
  }
}
