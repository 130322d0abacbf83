import type { Secret } from '../../lib/files/secret-files.ts';
import { readSingleSecret, requireLength } from '../../lib/files/single-secret.ts';
import { MIN_CACHE_SECRET } from '../../settings/cache.ts';

/** Returns the problem of a secret that is too short. */
export const findCacheSecretProblem = requireLength('the secret of the cache', MIN_CACHE_SECRET);

/**
 * Reads the secret that stored responses are encrypted with, once: with another secret, they couldn't be read anyway.
 *
 * @throws {SecretError} if its file can't be read, or it is too short
 */
export const readCacheSecret = (secret: Secret): string => readSingleSecret(secret, findCacheSecretProblem);
