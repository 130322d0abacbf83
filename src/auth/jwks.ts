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
import { memoizeBySource } from '../lib/memoize.ts';
import { SecretError, type SecretFiles, type SecretProblem } from '../lib/secret-files.ts';
import { AuthenticationError } from './authentication-error.ts';

/** Keys are asked for again when they are as old, in milliseconds: an issuer's old key is refused from then on at the latest. */
const MAX_AGE_MS = 5 * 60_000;

/** An unknown key id makes the keys be asked for again, this often at most: such ids cost an attacker nothing. */
const COOLDOWN_MS = 10_000;

/** Keys that cannot be renewed are used until they are as old. */
const MAX_STALE_MS = 60 * 60_000;

/** After a failure, the issuer is left in peace for as long. */
const PAUSE_MS = 5_000;

const TIMEOUT_MS = 5_000;

/** The largest set of keys that is read. */
const MAX_BYTES = 256 * 1024;

/**
 * The keys that an issuer publishes. While the issuer cannot be reached, the keys it had before are used, for an hour at most.
 *
 * Its functions throw `AuthenticationError` KEYS_UNAVAILABLE when there is no key to check with.
 */
export function createRemoteJwks(url: URL, logger: Logger): JWTVerifyGetKey {
  let last: { keys: JWTVerifyGetKey; renewedAt: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const fetchKeys: FetchImplementation = async (address, init) => {
    if (performance.now() - failedAt < PAUSE_MS) {
      throw new AuthenticationError('KEYS_UNAVAILABLE');
    }
    try {
      const set = await readJwks(await fetch(address, init));
      last = { keys: createLocalJWKSet(set), renewedAt: performance.now() };
      return Response.json(set);
    } catch (cause) {
      logger.warn({ issuerKeys: url.origin, cause: describe(cause) }, 'the keys of an issuer of tokens cannot be had');
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
      const isStale = last === undefined || performance.now() - last.renewedAt > MAX_STALE_MS;
      if (!(error instanceof AuthenticationError) || last === undefined || isStale) {
        throw error;
      }
      return last.keys(header, token);
    }
  };
}

/** Why there is no set of keys, for the log. */
class JwksError extends Error {
  override readonly name = 'KeySetError';
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
    if (bytes > MAX_BYTES) {
      await reader.cancel();
      throw new JwksError(`more than ${MAX_BYTES} bytes`);
    }
    chunks.push(part.value);
  }
  try {
    return createLocalJWKSet(JSON.parse(Buffer.concat(chunks).toString('utf8'))).jwks();
  } catch (cause) {
    throw new JwksError('no set of keys', { cause });
  }
}

/** In our words, or by the code of a failed connection. */
function describe(error: unknown): string {
  if (error instanceof JwksError) {
    return error.message;
  }
  const { name, cause } = error instanceof Error ? error : { name: 'unknown', cause: undefined };
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : name;
}

/** One public key, as PEM or as a JSON Web Key, read again when its file changes. */
export const createFixedKey = (files: SecretFiles): JWTVerifyGetKey =>
  memoizeBySource(
    () => files.secrets(),
    (secrets) => parsePublicKey([...secrets.values()][0] ?? ''),
  );

/** RSA keys below it are refused (NIST SP 800-131A). */
const MIN_RSA_BITS = 2048;

/** What is wrong with one of the keys; undefined: nothing. */
export function findKeyProblem(keys: ReadonlyMap<string, string>): SecretProblem | undefined {
  for (const [name, text] of keys) {
    try {
      parsePublicKey(text);
    } catch (error) {
      return { name, problem: error instanceof SecretError ? error.message : 'the public key cannot be used' };
    }
  }
  return undefined;
}

/** @throws {SecretError} when the text is no public key that tokens can be checked with */
function parsePublicKey(text: string): KeyObject {
  const key = readKey(text);
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < MIN_RSA_BITS) {
    throw new SecretError(`the public key has less than ${MIN_RSA_BITS} bits`);
  }
  return key;
}

function readKey(text: string): KeyObject {
  if (/PRIVATE KEY/.test(text) || /"d"\s*:/.test(text)) {
    throw new SecretError('the public key is a private one: give the gateway the public half alone');
  }
  try {
    return text.trimStart().startsWith('{')
      ? createPublicKey({ key: JSON.parse(text), format: 'jwk' })
      : createPublicKey(text);
  } catch (cause) {
    throw new SecretError('the public key is neither PEM nor a JSON Web Key', { cause });
  }
}
