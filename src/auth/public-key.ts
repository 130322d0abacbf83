import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { SecretError, type SecretFiles, type SecretProblem } from '../lib/files/secret-files.ts';
import { memoizeBySource } from '../lib/memoize.ts';

/** Creates a function that returns the public key of a file (PEM or JWK), which is read again when it changes. */
export const createFixedKey = (files: SecretFiles): JWTVerifyGetKey =>
  memoizeBySource(
    () => files.secrets(),
    (secrets) => parsePublicKey([...secrets.values()][0] ?? ''),
  );

/** Minimum size of RSA keys (NIST SP 800-131A). */
const MIN_RSA_BITS = 2048;

/** Returns the first problem of the public keys, or undefined. */
export function findKeyProblem(keys: ReadonlyMap<string, string>): SecretProblem | undefined {
  for (const [name, text] of keys) {
    try {
      parsePublicKey(text);
    } catch (error) {
      return { name, problem: error instanceof SecretError ? error.message : 'the public key is invalid' };
    }
  }
  return undefined;
}

/**
 * Parses a public key, as PEM or JWK.
 *
 * @throws {SecretError} if tokens cannot be verified with it
 */
function parsePublicKey(text: string): KeyObject {
  const key = readKey(text);
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < MIN_RSA_BITS) {
    throw new SecretError(`the public key has fewer than ${MIN_RSA_BITS} bits`);
  }
  return key;
}

function readKey(text: string): KeyObject {
  if (/PRIVATE KEY/.test(text) || /"d"\s*:/.test(text)) {
    throw new SecretError('the key is private; use the public key of the pair');
  }
  try {
    return text.trimStart().startsWith('{')
      ? createPublicKey({ key: JSON.parse(text), format: 'jwk' })
      : createPublicKey(text);
  } catch (cause) {
    throw new SecretError('the public key is neither PEM nor a JSON Web Key (JWK)', { cause });
  }
}
