import type { Secret } from '../lib/files/secret-files.ts';
import { readSingleSecret, requireLength } from '../lib/files/single-secret.ts';
import { MIN_LOG_SECRET } from '../settings/settings.ts';

/** Returns the problem of a secret that is too short. */
export const findLogSecretProblem = requireLength('the secret of the log', MIN_LOG_SECRET);

/** Reads the secret that names tenants in the log, once. @throws {SecretError} if its file can't be read, or it is too short */
export const readLogSecret = (secret: Secret): string => readSingleSecret(secret, findLogSecretProblem);
