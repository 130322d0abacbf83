import { createHmac } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import type { SecretFiles } from '../lib/files/secret-files.ts';
import { requireLength } from '../lib/files/single-secret.ts';
import { memoizeBySource } from '../lib/memoize.ts';

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
const MIN_SECRET_LENGTH = 32;

/** Returns the first problem of the secrets, or undefined. */
export const findSecretProblem = requireLength('a secret of client tokens', MIN_SECRET_LENGTH);

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
