import { LRUCache } from 'lru-cache';
import type { SecretFiles } from '../lib/files/secret-files.ts';
import type { VerifiedToken, VerifyToken } from './token-verifier.ts';

/** Cache of verified tokens: verifying a signature takes much longer than a lookup. */
export interface VerifiedTokenCache {
  /** Returns the content of a token that was verified recently, by its `Authorization` header. */
  get(authorization: string): VerifiedToken | undefined;
  /**
   * Verifies a token.
   *
   * @throws {AuthenticationError}
   */
  verify(authorization: string, token: string): Promise<VerifiedToken>;
}

/** Age after which tokens are verified again. After this time at the latest, a token whose key was withdrawn is rejected. */
const MAX_AGE_MS = 60_000;

/** Maximum length of a cached token. Longer ones are verified for every request. */
const MAX_LENGTH = 4 * 1024;

/** Maximum cached tokens. The least recently used ones are dropped. */
const MAX_TOKENS = 10_000;

/**
 * Creates the cache of verified tokens.
 *
 * @param keys files with the keys of tokens; if one changes, all tokens are verified again
 * @param now returns the current time
 */
export function createVerifiedTokenCache(
  verify: VerifyToken,
  keys: readonly Pick<SecretFiles, 'secrets'>[],
  now: () => Date,
): VerifiedTokenCache {
  // Without `ttl`: lru-cache keeps an entry through its last millisecond, and forever if the ttl is 0.
  const tokens = new LRUCache<string, { verified: VerifiedToken; until: number }>({
    max: MAX_TOKENS,
    maxEntrySize: MAX_LENGTH,
    sizeCalculation: (_, authorization) => authorization.length,
  });
  const current = keys.map((files) => files.secrets());

  function clearIfKeysChanged(): void {
    for (const [i, files] of keys.entries()) {
      if (files.secrets() !== current[i]) {
        current[i] = files.secrets();
        tokens.clear();
      }
    }
  }

  return {
    get(authorization) {
      clearIfKeysChanged();
      const found = tokens.get(authorization);
      return found !== undefined && now().getTime() < found.until ? found.verified : undefined;
    },
    async verify(authorization, token) {
      tokens.delete(authorization);
      const verified = await verify(token);
      tokens.set(authorization, { verified, until: Math.min(verified.expiresAt, now().getTime() + MAX_AGE_MS) });
      return verified;
    },
  };
}
