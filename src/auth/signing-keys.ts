// Provides the public keys for verifying tokens, from an issuer's JWKS or a file.

import { createPublicKey, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, errors, type FlattenedJWSInput, flattenedVerify, type JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';
import { errors as undiciErrors } from 'undici';
import { checkEach, SecretError, type SecretFiles } from '../files/secret-files.ts';
import { caught } from '../lib/caught.ts';
import { USER_AGENT } from '../lib/installation.ts';
import { arrayOf, isRecord, recordOf } from '../lib/is-record.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { isTimeoutError } from '../lib/signal.ts';
import { type Connect, openClient } from '../network/connector.ts';
import { describeCause } from '../upstream/errors.ts';
import { AuthenticationError } from './identity.ts';

/** Age after which a JWKS is fetched again, in milliseconds. After this time at the latest, a key removed by the issuer is rejected. */
const MAX_AGE_MS = 5 * 60_000;

/** Minimum interval between fetches because of unknown key ids and wrong signatures, which an attacker can invent freely. */
const COOLDOWN_MS = 10_000;

/** Maximum age of keys while they can't be fetched again. */
const MAX_STALE_MS = 60 * 60_000;

/** Minimum interval between a failed request to the issuer and the next one. */
const RETRY_DELAY_MS = 5_000;

const TIMEOUT_MS = 5_000;

const MAX_KEY_SET_BYTES = 256 * 1024;

/** Connections over which the current gateway fetches the keys of an issuer, and how many tokens may wait for them. */
type Source = readonly [connect: Connect, maxWaiting: number];

/**
 * Returns the keys of an issuer, the same function as long as they are the same.
 *
 * @param isRenewal whether those that it returned before have no key that signed a token. The issuer may have published it since
 * @throws {AuthenticationError} KEYS_UNAVAILABLE
 */
export type ReadKeys = (isRenewal: boolean) => JWTVerifyGetKey | Promise<JWTVerifyGetKey>;

/**
 * Creates a function that returns the keys in an issuer's JWKS. While the issuer is unreachable, these are the previous ones, for at most an hour,
 * but tokens that none of them signed can't be judged.
 */
function createRemoteJwks(url: URL, logger: Logger) {
  let last: { keys: JWTVerifyGetKey; fetchedAt: number } | undefined;
  let failure: { at: number; cause: string | undefined } | undefined;
  let fetching: Promise<void> | undefined;
  let waiting = 0;

  async function fetchKeys(connect: Connect): Promise<void> {
    try {
      last = { keys: await readJwks(url, connect), fetchedAt: performance.now() };
      if (failure !== undefined) {
        failure = undefined;
        logger.warn({ issuerKeys: url.origin }, "an issuer's signing keys are available again");
      }
    } catch (error) {
      const cause = describe(error);
      if (failure === undefined || cause !== failure.cause) {
        logger.warn({ issuerKeys: url.origin, cause }, "an issuer's signing keys are unavailable");
      }
      failure = { at: performance.now(), cause };
    }
  }

  /** Fetches the keys if they are older, once for all tokens that wait for them. Further tokens don't wait, and get the previous keys. */
  async function renewAfter(ageMs: number, [connect, maxWaiting]: Source): Promise<JWTVerifyGetKey> {
    const now = performance.now();
    const isOld = last === undefined || now - last.fetchedAt >= ageMs;
    const mayRetry = failure === undefined || now - failure.at >= RETRY_DELAY_MS;
    if (isOld && mayRetry && waiting < maxWaiting) {
      waiting += 1;
      fetching ??= fetchKeys(connect).finally(() => {
        fetching = undefined;
        waiting = 0;
      });
      await fetching;
    }
    // To judge a token that no key has signed, the fetch must not have failed, nor too many tokens wait for it.
    const isRefused = ageMs === COOLDOWN_MS && (failure ?? fetching) !== undefined;
    if (last === undefined || isRefused || performance.now() - last.fetchedAt > MAX_STALE_MS) {
      throw new AuthenticationError('KEYS_UNAVAILABLE');
    }
    return last.keys;
  }

  return (source: Source, isRenewal: boolean) => renewAfter(isRenewal ? COOLDOWN_MS : MAX_AGE_MS, source);
}

export type RemoteKeys = (url: URL, ...source: Source) => ReadKeys;

/** Creates a function that keeps the keys of each address: a gateway doesn't fetch them again when it replaces another one. */
export function createRemoteKeys(logger: Logger): RemoteKeys {
  const byAddress = new Map<string, ReturnType<typeof createRemoteJwks>>(); // As many as configurations name.
  return (url, ...source) => {
    const read = byAddress.get(url.href) ?? createRemoteJwks(url, logger);
    byAddress.set(url.href, read);
    return (isRenewal) => read(source, isRenewal);
  };
}

/** Fetches a JWKS. Redirects are not followed. */
async function readJwks(url: URL, connect: Connect): Promise<JWTVerifyGetKey> {
  const client = openClient(url.origin, connect, { maxResponseSize: MAX_KEY_SET_BYTES });
  try {
    const { statusCode, body } = await client.request({
      path: url.pathname + url.search,
      method: 'GET',
      headers: {
        accept: 'application/json, application/jwk-set+json',
        'accept-encoding': 'identity',
        'user-agent': USER_AGENT,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode !== 200) {
      throw new Error(`status ${statusCode}`);
    }
    return parseJwks(await body.text());
  } finally {
    void client.destroy();
  }
}

/** Parses a JWKS. Entries that are no objects are left out. */
function parseJwks(text: string): JWTVerifyGetKey {
  const { keys } = recordOf(JSON.parse(text));
  const published = arrayOf(keys).filter(isRecord);
  if (published.length === 0) {
    // Some issuers publish an empty set for a moment, which withdraws nothing.
    throw Array.isArray(keys) && keys.length === 0 ? new Error('an empty key set') : new errors.JWKSInvalid();
  }
  const findKey = createLocalJWKSet({ keys: published });
  return async (header, token) => {
    try {
      return await findKey(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) {
        return findSigner(error, token); // Without `kid`, or several have it.
      }
      throw error;
    }
  };
}

/** Maximum keys that a token is tried with: each costs a verification, also for a forged token. */
const MAX_TRIED_KEYS = 4;

/** Returns the key that has signed a token, of all keys that fit its algorithm. */
async function findSigner(fitting: errors.JWKSMultipleMatchingKeys, token: FlattenedJWSInput): Promise<CryptoKey> {
  const keys: CryptoKey[] = [];
  for await (const key of fitting) {
    if (keys.push(key) > MAX_TRIED_KEYS) {
      throw fitting;
    }
  }
  for (const key of keys) {
    const isSigner = await flattenedVerify(token, key).then(Boolean, () => false);
    if (isSigner) {
      return key;
    }
  }
  throw new errors.JWKSNoMatchingKey(); // The issuer may have published the key since.
}

/** Returns the cause of a failed request for the log: never content of the response. */
function describe(error: unknown): string | undefined {
  if (error instanceof SyntaxError || error instanceof errors.JWKSInvalid) {
    return 'not a key set';
  }
  if (error instanceof undiciErrors.ResponseExceededMaxSizeError) {
    return `more than ${MAX_KEY_SET_BYTES} bytes`;
  }
  return isTimeoutError(error) ? 'TimeoutError' : describeCause(error);
}

/** Creates a function that returns the public key of a file (PEM or JWK). Changes of the file take effect. */
export function createFixedKey(files: SecretFiles): JWTVerifyGetKey {
  const keyOf = memoizeByObject((secrets: ReadonlyMap<string, string>) =>
    parsePublicKey([...secrets.values()][0] ?? ''),
  );
  return () => keyOf(files.secrets());
}

/** Minimum size of RSA keys (NIST SP 800-131A). */
const MIN_RSA_BITS = 2048;

/** Returns the first problem of the public keys, or undefined. */
export const findKeyProblem = checkEach((text) => caught(SecretError, () => parsePublicKey(text))?.message);

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
