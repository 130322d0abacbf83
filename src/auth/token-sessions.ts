import { LRUCache } from 'lru-cache';
import type { SecretFiles } from '../lib/secret-files.ts';
import type { VerifiedToken, VerifyToken } from './token-verifier.ts';

/** Tokens that have been checked, so that the next request with one costs a look instead of a signature's check. */
export interface TokenSessions {
  /** What a token says that was checked a short time ago, found by the header that it came in. */
  known(authorization: string): VerifiedToken | undefined;
  /** Checks it. @throws {AuthenticationError} */
  check(authorization: string, token: string): Promise<VerifiedToken>;
}

/** Tokens are checked again after it: one whose key was withdrawn is refused from then on at the latest. */
const CHECKED_FOR_MS = 60_000;

/** A longer token is checked every time: what is remembered must not fill the memory. */
const MAX_LENGTH = 4 * 1024;

/** Those that have not been used for the longest time are forgotten first. */
const MAX_TOKENS = 10_000;

/**
 * @param keys what tokens are checked with, where it is kept in files: when one changes, all tokens are checked again
 * @param now the current time
 */
export function createTokenSessions(
  verify: VerifyToken,
  keys: readonly Pick<SecretFiles, 'secrets'>[],
  now: () => Date,
): TokenSessions {
  // No `ttl`: lru-cache keeps an entry through the last millisecond of it, and for ever if it is 0.
  const tokens = new LRUCache<string, { verified: VerifiedToken; until: number }>({
    max: MAX_TOKENS,
    maxEntrySize: MAX_LENGTH,
    sizeCalculation: (_, authorization) => authorization.length,
  });
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
    known(authorization) {
      forgetWhereKeysChanged();
      const found = tokens.get(authorization);
      return found !== undefined && now().getTime() < found.until ? found.verified : undefined;
    },
    async check(authorization, token) {
      tokens.delete(authorization);
      const verified = await verify(token);
      tokens.set(authorization, { verified, until: Math.min(verified.expiresAt, now().getTime() + CHECKED_FOR_MS) });
      return verified;
    },
  };
}
