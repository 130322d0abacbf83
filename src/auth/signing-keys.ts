import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import type { Logger } from 'pino';
import { errorCodeOf } from '../lib/error-code.ts';
import { SecretError, type SecretFiles, type SecretProblem } from '../lib/files/secret-files.ts';
import { memoizeBySource } from '../lib/memoize.ts';
import { AuthenticationError } from './identity.ts';

/** Age after which a JWKS is fetched again, in milliseconds. After this time at the latest, a key removed by the issuer is rejected. */
const MAX_AGE_MS = 5 * 60_000;

/** Minimum interval between fetches because of unknown key ids, which an attacker can invent freely. */
const COOLDOWN_MS = 10_000;

/** Maximum age of keys while they can't be fetched again. */
const MAX_STALE_MS = 60 * 60_000;

/** Minimum interval between a failed request to the issuer and the next one. */
const RETRY_DELAY_MS = 5_000;

/** Timeout of requests to the issuer. */
const TIMEOUT_MS = 5_000;

/** Maximum size of a JWKS, in bytes. */
const MAX_BYTES = 256 * 1024;

/**
 * Creates a function that finds keys in an issuer's JWKS. While the issuer is unreachable, it uses the previous keys, for at most an hour.
 * Without any keys it throws an `AuthenticationError` with KEYS_UNAVAILABLE.
 */
function createRemoteJwks(url: URL, logger: Logger): JWTVerifyGetKey {
  let last: { keys: JWTVerifyGetKey; renewedAt: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const fetchKeys: FetchImplementation = async (address, init) => {
    // guard: test/auth/issuer-keys.test.ts
    if (performance.now() - failedAt < RETRY_DELAY_MS) {
      throw new AuthenticationError('KEYS_UNAVAILABLE');
    }
    try {
      const set = await readJwks(await fetch(address, init));
      last = { keys: createLocalJWKSet(set), renewedAt: performance.now() };
      return Response.json(set);
    } catch (cause) {
      logger.warn({ issuerKeys: url.origin, cause: describe(cause) }, "an issuer's signing keys are unavailable");
      failedAt = performance.now();
      throw new AuthenticationError('KEYS_UNAVAILABLE', { cause });
    }
  };
  const remote = createRemoteJWKSet(url, {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });

  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      // guard: test/auth/issuer-keys.test.ts
      const isStale = last === undefined || performance.now() - last.renewedAt > MAX_STALE_MS;
      if (!(error instanceof AuthenticationError) || last === undefined || isStale) {
        throw error;
      }
      return last.keys(header, token);
    }
  };
}

/** Returns the function that finds keys at an address. */
export type RemoteKeys = (url: URL) => JWTVerifyGetKey;

/** Creates a function that keeps the keys of each address, so that a gateway that replaces another one doesn't fetch them again. */
export function createRemoteKeys(logger: Logger): RemoteKeys {
  const byAddress = new Map<string, JWTVerifyGetKey>(); // As many as configurations name.
  return (url) => {
    const keys = byAddress.get(url.href) ?? createRemoteJwks(url, logger);
    byAddress.set(url.href, keys);
    return keys;
  };
}

/** A response that is not a JWKS. The message is for the log. */
class JwksError extends Error {
  override readonly name = 'JwksError';
}

async function readJwks({ status, body }: Response): Promise<JSONWebKeySet> {
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new JwksError(`status ${status}`);
  }
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader.read(); part.value !== undefined; part = await reader.read()) {
    bytes += part.value.byteLength;
    // guard: test/auth/issuer-keys.test.ts
    if (bytes > MAX_BYTES) {
      await reader.cancel();
      throw new JwksError(`more than ${MAX_BYTES} bytes`);
    }
    chunks.push(part.value);
  }
  try {
    return createLocalJWKSet(JSON.parse(Buffer.concat(chunks).toString('utf8'))).jwks();
  } catch (cause) {
    throw new JwksError('not a key set', { cause });
  }
}

/** Returns our own message, or the code of a failed connection. */
function describe(error: unknown): string {
  if (error instanceof JwksError) {
    return error.message;
  }
  const { name, cause } = error instanceof Error ? error : { name: 'unknown', cause: undefined };
  const code = errorCodeOf(cause);
  return typeof code === 'string' ? code : name;
}

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
  // guard: test/auth/issuer-keys.test.ts
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
