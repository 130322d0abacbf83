// Verifies the tokens of trusted issuers, and caches verified tokens for up to a minute.

import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { SecretFiles } from '../../files/secret-files.ts';
import { isRecord } from '../../lib/is-record.ts';
import { isScope, type Scope } from '../../settings/scopes.ts';
import { AuthenticationError, type AuthenticationReason, type ClaimMismatch, type Identity } from '../identity.ts';
import type { ReadKeys } from '../signing-keys.ts';

export interface TrustedIssuer {
  /** Exact value of the claim `iss`. */
  issuer: string;
  /** Accepted values of the claim `aud`. */
  audiences: readonly string[];
  /** Accepted signature algorithms; never `none`. */
  algorithms: readonly string[];
  keys: ReadKeys;
  /**
   * Returns the tenant in the claims, or undefined.
   *
   * @throws {AuthenticationError}
   */
  tenantOf(claims: JWTPayload): string | undefined;
  /** Name or path of the claim that contains the subject. */
  subjectClaim: string;
  /** Name or path of the claim that contains the scopes. */
  scopeClaim: string;
  /** Whether it is the gateway itself. Then the claims `documents` and `upstream` restrict what a token is for. */
  isGateway: boolean;
}

/** Difference that is accepted between the clocks of another issuer and the gateway, in seconds. With NTP, clocks differ by less than one. */
const CLOCK_SKEW_SECONDS = 5;

const clockSkewOf = ({ isGateway }: TrustedIssuer): number => (isGateway ? 0 : CLOCK_SKEW_SECONDS);

/** Identity that a token or a session proves, before the API key of its tenant is known. A token for an upstream without a name has an empty one. */
export type Person = Omit<Identity, 'clientKind' | 'credential'> & { tenant: string; scopes: ReadonlySet<Scope> };

export interface VerifiedToken extends Person {
  /** Expiry in milliseconds since 1970, including the clock difference. */
  readonly expiresAt: number;
}

/**
 * Creates a function that verifies the signature, issuer, audience and times of a token. The function throws an `AuthenticationError` if one
 * is invalid.
 *
 * @param ceiling scopes that tokens can grant
 */
export function createTokenVerifier(issuers: readonly TrustedIssuer[], ceiling: ReadonlySet<Scope>, now: () => Date) {
  const issuersByName = new Map<unknown, TrustedIssuer>(issuers.map((issuer) => [issuer.issuer, issuer]));

  return async (token: string): Promise<VerifiedToken> => {
    const name = readIssuer(token);
    const issuer = issuersByName.get(name);
    if (issuer === undefined) {
      const expected = issuers.map((trusted) => trusted.issuer);
      throw new AuthenticationError('TOKEN_FOR_ANOTHER', { mismatch: { claim: 'iss', found: name, expected } });
    }
    const claims = await verify(token, issuer, now());
    const tenant = issuer.tenantOf(claims);
    if (tenant === undefined) {
      throw new AuthenticationError('TENANT_UNKNOWN');
    }
    for (const unused of ['jti', 'sub']) {
      readText(claims, unused); // A token whose claims have the wrong types is not trusted.
    }
    const scopes = readWords(claims, issuer.scopeClaim).filter(isScope);
    const documents = issuer.isGateway ? toTexts(claims.documents) : undefined;
    const subject = readText(claims, issuer.subjectClaim) || undefined; // The gateway's own tokens have an empty one instead of none.
    return {
      ...toPerson({ tenant, subject, issuer: issuer.issuer, scopes }, ceiling),
      documents: documents && new Set(documents),
      upstreamName: issuer.isGateway ? (readText(claims, 'upstream') ?? '') : undefined,
      expiresAt: ((claims.exp ?? 0) + clockSkewOf(issuer)) * 1000,
    };
  };
}

type Proof = Pick<Person, 'tenant' | 'subject' | 'issuer'> & { scopes: readonly Scope[] };

/**
 * Returns what a token or a session proves.
 *
 * @param from with the issuer of the token; none for a session, so that nobody has the limits or idempotency keys of another with the same subject
 * @param ceiling scopes that can be granted
 */
export function toPerson({ scopes, ...from }: Proof, ceiling: ReadonlySet<Scope>): Person {
  return {
    ...from,
    scopes: new Set(scopes.filter((scope) => ceiling.has(scope))),
    withheldScopes: new Set(scopes.filter((scope) => !ceiling.has(scope))),
    callerId: ['browser', from.tenant, from.issuer, from.subject].join('\n'), // What is undefined is empty.
  };
}

/** Reads the issuer of a token before it is verified, only to find the keys to verify it with. */
function readIssuer(token: string): string | undefined {
  try {
    return readText(decodeJwt(token), 'iss');
  } catch (cause) {
    throw new AuthenticationError('TOKEN_INVALID', { cause });
  }
}

async function verify(token: string, trusted: TrustedIssuer, now: Date): Promise<JWTPayload> {
  const { issuer, audiences, algorithms } = trusted;
  let tried: JWTVerifyGetKey | undefined;

  async function verifyWith(isRenewal: boolean): Promise<JWTPayload> {
    const findKey: JWTVerifyGetKey = async (header, signed) => {
      const keys = await trusted.keys(isRenewal);
      if (keys === tried) {
        throw new errors.JWKSNoMatchingKey();
      }
      tried = keys;
      return keys(header, signed);
    };
    const { payload } = await jwtVerify(token, findKey, {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      clockTolerance: clockSkewOf(trusted),
      requiredClaims: ['exp'],
      currentDate: now,
    });
    return payload;
  }

  try {
    return await verifyWith(false).catch((error) => (isOfUnknownKey(error) ? verifyWith(true) : Promise.reject(error)));
  } catch (error) {
    if (error instanceof AuthenticationError) {
      throw error;
    }
    throw new AuthenticationError(reasonOf(error), { cause: error, mismatch: mismatchOf(error, audiences) });
  }
}

/** Whether no known key has signed a token. Issuers also publish a new one under the id of an old one. */
const isOfUnknownKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;

/**
 * Returns the audience of a token for another one, or undefined.
 *
 * @throws {AuthenticationError} TOKEN_INVALID if it is neither a string nor a list of strings
 */
function mismatchOf(error: unknown, expected: readonly string[]): ClaimMismatch | undefined {
  if (!(error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')) {
    return undefined;
  }
  const { aud } = error.payload;
  return { claim: 'aud', found: typeof aud === 'string' ? aud : toTexts(aud), expected };
}

/** Returns the reason for an error of jose. It checks claims after the signature, so only a signer learns which claim is wrong. */
function reasonOf(error: unknown): AuthenticationReason {
  if (error instanceof errors.JWTExpired) {
    return 'TOKEN_EXPIRED';
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed') {
      return 'TOKEN_NOT_YET_VALID';
    }
    return error.claim === 'aud' ? 'TOKEN_FOR_ANOTHER' : 'TOKEN_INVALID';
  }
  return 'TOKEN_INVALID';
}

/**
 * Returns the claim with exactly this name. Without one, the name is a path into objects, with dots between its parts: `realm_access.roles`.
 * Returns undefined if the token doesn't have it.
 *
 * @throws {AuthenticationError} TOKEN_INVALID if the path leads into a value that is no object
 */
function findClaim(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) {
    return claims[name]; // First, because names that are URLs contain dots.
  }
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isRecord(value)) {
      throw new AuthenticationError('TOKEN_INVALID');
    }
    if (!Object.hasOwn(value, part)) {
      return undefined;
    }
    value = value[part];
  }
  return value;
}

// A claim of the wrong type is rejected, never converted: as a string, every object is "[object Object]", and two people would share their
// limits and idempotency keys.

/**
 * Returns a claim that must be a string; undefined if the token doesn't have it.
 *
 * @param name name or path of the claim
 * @throws {AuthenticationError} TOKEN_INVALID
 */
export function readText(claims: JWTPayload, name: string): string | undefined {
  const value = findClaim(claims, name);
  if (value !== undefined && typeof value !== 'string') {
    throw new AuthenticationError('TOKEN_INVALID');
  }
  return value;
}

/**
 * Returns a value that must be a list of strings, or undefined.
 *
 * @throws {AuthenticationError} TOKEN_INVALID
 */
function toTexts(value: unknown): readonly string[] | undefined {
  if (value !== undefined && !(Array.isArray(value) && value.every((entry) => typeof entry === 'string'))) {
    throw new AuthenticationError('TOKEN_INVALID');
  }
  return value;
}

/**
 * Returns the entries of a claim that must be a space-separated string (RFC 8693, 4.2) or a list of strings; none if the token doesn't have
 * it.
 *
 * @throws {AuthenticationError} TOKEN_INVALID
 */
function readWords(claims: JWTPayload, name: string): readonly string[] {
  const value = findClaim(claims, name);
  return typeof value === 'string' ? value.split(' ') : (toTexts(value) ?? []);
}

/** Age after which tokens are verified again. After this time at the latest, a token whose key was withdrawn is rejected. */
const MAX_AGE_MS = 60_000;

/** Maximum length of a cached token. Longer ones are verified for every request. */
const MAX_LENGTH = 4 * 1024;

/** Maximum cached tokens. The least recently used ones are dropped. */
const MAX_TOKENS = 10_000;

/**
 * Creates the cache of verified tokens: verifying a signature takes much longer than a lookup.
 *
 * @param keys files with the keys of tokens; if one changes, all tokens are verified again
 * @param now returns the current time
 */
export function createVerifiedTokenCache(
  verify: ReturnType<typeof createTokenVerifier>,
  keys: readonly Pick<SecretFiles, 'secrets'>[],
  now: () => Date,
) {
  // Without `ttl`: lru-cache keeps an entry through its last millisecond, and forever if the ttl is 0.
  const tokens = new LRUCache<string, { verified: VerifiedToken; until: number }>({
    max: MAX_TOKENS,
    maxEntrySize: MAX_LENGTH,
    sizeCalculation: (_, authorization) => authorization.length,
  });
  const current = keys.map((files) => files.secrets());

  return {
    /** Returns the content of a token that was verified recently, by its `Authorization` header. */
    get(authorization: string): VerifiedToken | undefined {
      for (const [i, files] of keys.entries()) {
        if (files.secrets() !== current[i]) {
          current[i] = files.secrets();
          tokens.clear();
        }
      }
      const found = tokens.get(authorization);
      return found !== undefined && now().getTime() < found.until ? found.verified : undefined;
    },
    /**
     * Verifies a token.
     *
     * @throws {AuthenticationError}
     */
    async verify(authorization: string, token: string): Promise<VerifiedToken> {
      const verified = await verify(token);
      tokens.set(authorization, { verified, until: Math.min(verified.expiresAt, now().getTime() + MAX_AGE_MS) });
      return verified;
    },
  };
}
