import type { Secret } from '../../lib/files/secret-files.ts';
import { readSingleSecret, requireLength } from '../../lib/files/single-secret.ts';
import { MIN_ROUTER_SECRET, type Settings } from '../../settings/settings.ts';

/** Returns the problem of a secret that is too short. */
export const findRouterSecretProblem = requireLength('the secret of the router', MIN_ROUTER_SECRET);

/** Returns the secret in the settings, or the file that holds it; undefined if there is none. */
export const routerSecretOf = ({ federation }: Pick<Settings, 'federation'>): Secret | undefined =>
  typeof federation === 'object' ? federation.routerSecret : undefined;

/** Reads the secret. @throws {SecretError} if its file can't be read, or it is too short */
export const readRouterSecret = (secret: Secret): string => readSingleSecret(secret, findRouterSecretProblem);
