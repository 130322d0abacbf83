import { createSecretFiles, type FindProblem, type Secret } from '../../lib/secret-files.ts';
import { MIN_ROUTER_SECRET, type Settings } from '../../settings/settings.ts';

/** Returns the problem of a secret that is too short. */
export const findRouterSecretProblem: FindProblem = (secrets) => {
  const short = [...secrets].find(([, secret]) => secret.length < MIN_ROUTER_SECRET);
  return (
    short && { name: short[0], problem: `the secret of the router is shorter than ${MIN_ROUTER_SECRET} characters` }
  );
};

/** Returns the secret in the settings, or the file that holds it; undefined if there is none. */
export const routerSecretOf = ({ federation }: Pick<Settings, 'federation'>): Secret | undefined =>
  typeof federation === 'object' ? federation.routerSecret : undefined;

/** Reads the secret. @throws {SecretError} if its file can't be read, or it is too short */
export const readRouterSecret = (secret: Secret): string =>
  createSecretFiles({ secrets: { secret } }, findRouterSecretProblem).secrets().get('secret') ?? '';
