import { createSecretFiles, type FindProblem, type Secret } from '../../lib/secret-files.ts';
import { MIN_CACHE_SECRET } from '../../settings/cache.ts';

/** Returns the problem of a secret that is too short. */
export const findCacheSecretProblem: FindProblem = (secrets) => {
  const short = [...secrets].find(([, secret]) => secret.length < MIN_CACHE_SECRET);
  return short && { name: short[0], problem: `the secret of the cache is shorter than ${MIN_CACHE_SECRET} characters` };
};

/**
 * Reads the secret that stored responses are encrypted with, once: with another secret, they couldn't be read anyway.
 *
 * @throws {SecretError} if its file can't be read, or it is too short
 */
export const readCacheSecret = (secret: Secret): string =>
  createSecretFiles({ secrets: { secret } }, findCacheSecretProblem).secrets().get('secret') ?? '';
