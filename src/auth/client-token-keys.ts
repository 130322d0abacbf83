import { createHmac } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { memoizeBySource } from '../lib/memoize.ts';
import type { SecretFiles, SecretProblem } from '../lib/secret-files.ts';

/** Keys that the gateway signs client tokens with. */
export interface ClientTokenKeys {
  /** Returns the current signing key: the first. */
  signing(): ClientTokenKey;
  /** Finds the key of a token by its `kid`. */
  find: JWTVerifyGetKey;
}

/** Key of client tokens. */
export interface ClientTokenKey {
  /** Identifies the key without revealing anything of the secret. */
  id: string;
  secret: Uint8Array;
}

/** Minimum length of a secret: that of a digest of HS256 (RFC 7518, 3.2). */
export const MIN_SECRET_LENGTH = 32;

/** Returns the first problem of the secrets, or undefined. */
export function findSecretProblem(secrets: ReadonlyMap<string, string>): SecretProblem | undefined {
  const short = [...secrets].find(([, secret]) => secret.length < MIN_SECRET_LENGTH);
  return (
    short && { name: short[0], problem: `a secret of client tokens is shorter than ${MIN_SECRET_LENGTH} characters` }
  );
}

/**
 * Derives the keys of client tokens from their secrets.
 *
 * @param files at least one secret; removing a secret invalidates the tokens signed with it
 */
export function createClientTokenKeys(files: SecretFiles): ClientTokenKeys {
  const currentKeys = memoizeBySource(
    () => files.secrets(),
    (secrets) => [...secrets.values()].map(toKey),
  );

  return {
    signing() {
      const [first] = currentKeys();
      if (first === undefined) {
        throw new TypeError('Client tokens require a secret.');
      }
      return first;
    },
    find: (header) => {
      const key = currentKeys().find(({ id }) => id === header.kid);
      if (key === undefined) {
        throw new Error('unknown key');
      }
      return key.secret;
    },
  };
}

const toKey = (secret: string): ClientTokenKey => ({
  id: createHmac('sha256', secret).update('notigraph client token key').digest('hex').slice(0, 16),
  secret: new TextEncoder().encode(secret),
});
