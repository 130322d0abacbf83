import { createHmac } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { memoizeBySource } from '../lib/memoize.ts';
import type { SecretFiles, SecretProblem } from '../lib/secret-files.ts';

/** The keys that the gateway signs client tokens with. */
export interface ClientTokenKeys {
  /** The one that signs at present: the first. */
  signing(): ClientTokenKey;
  /** Finds the key of a token by its id. */
  find: JWTVerifyGetKey;
}

export interface ClientTokenKey {
  /** Tells keys apart; nothing of the secret can be found out from it. */
  id: string;
  secret: Uint8Array;
}

/** A secret is at least as long as the digest of its algorithm, HS256 (RFC 7518, 3.2). */
export const MIN_SECRET_LENGTH = 32;

/** What is wrong with one of the secrets; undefined: nothing. */
export function findSecretProblem(secrets: ReadonlyMap<string, string>): SecretProblem | undefined {
  const short = [...secrets].find(([, secret]) => secret.length < MIN_SECRET_LENGTH);
  return (
    short && { name: short[0], problem: `a secret of client tokens is shorter than ${MIN_SECRET_LENGTH} characters` }
  );
}

/** @param files at least one secret; a secret that is taken away makes the tokens signed with it invalid */
export function createClientTokenKeys(files: SecretFiles): ClientTokenKeys {
  const present = memoizeBySource(
    () => files.secrets(),
    (secrets) => [...secrets.values()].map(toKey),
  );

  return {
    signing() {
      const [first] = present();
      if (first === undefined) {
        throw new TypeError('Client tokens need a secret.');
      }
      return first;
    },
    find: (header) => {
      const key = present().find(({ id }) => id === header.kid);
      if (key === undefined) {
        throw new Error('no such key');
      }
      return key.secret;
    },
  };
}

const toKey = (secret: string): ClientTokenKey => ({
  id: createHmac('sha256', secret).update('notigraph client token key').digest('hex').slice(0, 16),
  secret: new TextEncoder().encode(secret),
});
