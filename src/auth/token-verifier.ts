import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isScope, type Scope } from '../settings/scopes.ts';
import { AuthenticationError, type AuthenticationReason } from './authentication-error.ts';
import { readText, readTexts, readWords } from './claims.ts';

/** How tokens of one issuer are checked, and what is read from them. */
export interface TrustedIssuer {
  /** The claim `iss`, exactly. */
  issuer: string;
  /** One of these must be in the claim `aud`. */
  audiences: readonly string[];
  /** Signature algorithms that are taken; `none` is not one of them. */
  algorithms: readonly string[];
  keys: JWTVerifyGetKey;
  /** How much clocks may differ, in seconds. */
  clockSkewSeconds: number;
  /** Returns the tenant that the claims name; undefined if there is none. @throws {AuthenticationError} */
  tenantOf(claims: JWTPayload): string | undefined;
  /** The claim that lists scopes. */
  scopeClaim: string;
  /** Whether the claim `documents` restricts which documents may be sent: only in tokens that the gateway has signed. */
  restrictsDocuments: boolean;
}

/** What a token that is in order says. */
export interface VerifiedToken {
  tenant: string;
  /** What it permits, as far as tokens may. */
  scopes: ReadonlySet<Scope>;
  /** The only documents that it permits; undefined: it does not say. */
  documents: ReadonlySet<string> | undefined;
  /** The person or, where the token names none, the tenant. */
  callerId: string;
  /** From when on it is not valid any more, in milliseconds since 1970; the clocks' difference included. */
  expiresAt: number;
}

export type VerifyToken = (token: string) => Promise<VerifiedToken>;

export interface TokenVerifierOptions {
  issuers: readonly TrustedIssuer[];
  /** The most that any token can permit. */
  ceiling: ReadonlySet<Scope>;
  now: () => Date;
}

/** Checks signature, issuer, audience and times of a token. The function it makes throws `AuthenticationError`. */
export function createTokenVerifier({ issuers, ceiling, now }: TokenVerifierOptions): VerifyToken {
  const byName = new Map(issuers.map((issuer) => [issuer.issuer, issuer]));

  return async (token) => {
    const issuer = byName.get(readIssuer(token));
    if (issuer === undefined) {
      throw new AuthenticationError('TOKEN_FOR_ANOTHER');
    }
    const claims = await verify(token, issuer, now());
    const tenant = issuer.tenantOf(claims);
    if (tenant === undefined) {
      throw new AuthenticationError('TENANT_UNKNOWN');
    }
    readText(claims, 'jti'); // Not used, but a token whose claims have the wrong types is not trusted.
    const scopes = readWords(claims, issuer.scopeClaim).filter(isScope);
    const documents = issuer.restrictsDocuments ? readTexts(claims, 'documents') : undefined;
    const subject = readText(claims, 'sub') ?? '';
    return {
      tenant,
      scopes: new Set(scopes.filter((scope) => ceiling.has(scope))),
      documents: documents && new Set(documents),
      callerId: ['browser', tenant, issuer.issuer, subject].join('\n'),
      expiresAt: ((claims.exp ?? 0) + issuer.clockSkewSeconds) * 1000,
    };
  };
}

/** Nothing of it is trusted but which keys to check it with. */
function readIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (cause) {
    throw new AuthenticationError('TOKEN_INVALID', { cause });
  }
}

async function verify(token: string, trusted: TrustedIssuer, now: Date): Promise<JWTPayload> {
  const { issuer, audiences, algorithms, keys, clockSkewSeconds } = trusted;
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      clockTolerance: clockSkewSeconds,
      requiredClaims: ['exp'],
      currentDate: now,
    });
    return payload;
  } catch (error) {
    throw error instanceof AuthenticationError ? error : new AuthenticationError(reasonOf(error), { cause: error });
  }
}

/** Claims are looked at after the signature, so that only who can sign learns which of them is wrong. */
function reasonOf(error: unknown): AuthenticationReason {
  if (error instanceof errors.JWTExpired) {
    return 'TOKEN_EXPIRED';
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed') {
      return 'TOKEN_NOT_YET_VALID';
    }
    return error.claim === 'aud' || error.claim === 'iss' ? 'TOKEN_FOR_ANOTHER' : 'TOKEN_INVALID';
  }
  return 'TOKEN_INVALID';
}
