import type { SecretFiles } from '../lib/secret-files.ts';
import type { VerifiedToken, VerifyToken } from './token-verifier.ts';

/** Tokens that have been checked, so that the next request with one costs a look instead of a signature's check. */
export interface VerifiedTokenCache {
  /** What a token says that was checked a short time ago, found by the header that it came in. */
  get(authorization: string): VerifiedToken | undefined;
  /** Checks it. @throws {AuthenticationError} */
  verify(authorization: string, token: string): Promise<VerifiedToken>;
}

/** Tokens are checked again after it: one whose key was withdrawn is refused from then on at the latest. */
const CHECKED_FOR_MS = 60_000;

/** A longer token is checked every time: what is remembered must not fill the memory. */
const MAX_LENGTH = 4 * 1024;

/** Those that came first are forgotten first. */
const MAX_TOKENS = 10_000;

/**
 * @param keys what tokens are checked with, where it is kept in files: when one changes, all tokens are checked again
 * @param now the current time
 */
export function createVerifiedTokenCache(
  verify: VerifyToken,
  keys: readonly Pick<SecretFiles, 'secrets'>[],
  now: () => Date,
): VerifiedTokenCache {
  const tokens = new Map<string, { verified: VerifiedToken; until: number }>();
  const present = keys.map((files) => files.secrets());

  function forgetWhereKeysChanged(): void {
    for (const [i, files] of keys.entries()) {
      if (files.secrets() !== present[i]) {
        present[i] = files.secrets();
        tokens.clear();
      }
    }
  }

  return {
    get(authorization) {
      forgetWhereKeysChanged();
      const found = tokens.get(authorization);
      return found !== undefined && now().getTime() < found.until ? found.verified : undefined;
    },
    async verify(authorization, token) {
      tokens.delete(authorization);
      const verified = await verify(token);
      if (tokens.size >= MAX_TOKENS) {
        tokens.delete(tokens.keys().next().value ?? '');
      }
      if (authorization.length > MAX_LENGTH) {
        return verified;
      }
      tokens.set(authorization, { verified, until: Math.min(verified.expiresAt, now().getTime() + CHECKED_FOR_MS) });
      return verified;
    },
  };
}
