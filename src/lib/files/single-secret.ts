import { createSecretFiles, type FindProblem, type Secret, SecretError } from './secret-files.ts';

/**
 * Creates the check of a secret's length.
 *
 * @param title words that name the secret, such as `the secret of the cache`
 * @param minLength minimum number of characters
 */
export const requireLength =
  (title: string, minLength: number): FindProblem =>
  (secrets) => {
    const short = [...secrets].find(([, secret]) => secret.length < minLength);
    return short && { name: short[0], problem: `${title} is shorter than ${minLength} characters` };
  };

/** Reads one secret, once. @throws {SecretError} if its file can't be read, or `findProblem` returns a problem */
export function readSingleSecret(secret: Secret, findProblem: FindProblem): string {
  const value = createSecretFiles({ secrets: { secret } }, findProblem).secrets().get('secret');
  if (value === undefined) {
    throw new SecretError('the secret is missing');
  }
  return value;
}
