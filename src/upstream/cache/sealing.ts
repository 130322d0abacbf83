// Compresses and encrypts responses for Redis, with a key per credential.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { orUndefined } from '../../lib/caught.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoize } from '../../lib/memoize.ts';
import type { UpstreamResult } from '../calls.ts';
import type { Owner } from './store.ts';

/** Part of the derivation, so that versions of Notigraph with another format don't see each other's values. */
const FORMAT = 'notigraph cache 2';

/** Maximum credentials whose keys are kept. Deriving them takes 20 µs. */
const MAX_KEPT = 1_000;

/**
 * Creates a function that returns the keys and names of an owner in Redis. Without the secret and the credential, none can be derived, recognized or
 * read.
 */
export function createOwnerKeys(secret: string) {
  const derive = memoize((owner: string) => {
    const seed = createHmac('sha256', secret).update(owner).digest();
    const bytes = Buffer.from(hkdfSync('sha256', seed, '', FORMAT, 80));
    const [encryption, naming] = [createSecretKey(bytes.subarray(0, 32)), createSecretKey(bytes.subarray(32, 64))]; // As bytes, they cost 15 µs per use.
    return {
      id: bytes.toString('base64url', 64),
      /** Key of AES-256-GCM. Each credential has its own, so that random nonces never repeat. */
      encryption,
      digestOf: (path: string) => createHmac('sha256', naming).update(path).digest('base64url'),
    };
  }, MAX_KEPT);
  return ({ address, credential }: Owner) => derive(`${address}\n${credential}`); // A URL has no line break.
}

const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** Maximum size of a sealed response, in bytes. Reading larger ones would delay other lookups on the connection. */
const MAX_SEALED_BYTES = 1024 * 1024;

/** First byte of a sealed value, before its encryption. */
const PLAIN = Buffer.from('j');
const COMPRESSED = Buffer.from('z');

/** Size above which values are compressed, in bytes. */
const COMPRESSED_ABOVE = 1_024;

/** Size above which another thread compresses or decompresses: it would block this one for more than a millisecond. */
const ASYNC_ABOVE = 128 * 1024;

/** Size of compressed bytes above which they are probably that large. */
const ASYNC_COMPRESSED_ABOVE = ASYNC_ABOVE / 8;

/**
 * The fastest level. It takes 50 µs for a workflow of 8 KB, which becomes 1.7 KB; Zstandard is as fast for such sizes, and experimental in Node.js.
 */
const DEFLATE = { level: constants.Z_BEST_SPEED };

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const deflateAside = promisify<Buffer, typeof DEFLATE, Buffer>(deflateRaw);
const inflateAside = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** Returns a response as JSON. Undefined if it is too large or too deep to be stored. */
export function toJson(result: UpstreamResult): Buffer | undefined {
  const json = orUndefined(() => Buffer.from(JSON.stringify(result))); // 20 KB of brackets can be parsed, but exceed the stack here.
  return json !== undefined && json.length <= MAX_JSON_BYTES ? json : undefined;
}

/**
 * Compresses and encrypts a response. Doesn't block for long.
 *
 * @param bound text to which the result is bound: it can only be decrypted with the same one
 * @returns undefined if it is too large to be stored
 */
export async function sealResult(json: Buffer, key: KeyObject, bound: string): Promise<Buffer | undefined> {
  const packed =
    json.length <= COMPRESSED_ABOVE
      ? [PLAIN, json]
      : [COMPRESSED, json.length > ASYNC_ABOVE ? await deflateAside(json, DEFLATE) : deflateRawSync(json, DEFLATE)];
  const sealed = seal(Buffer.concat(packed), key, bound);
  return sealed.length <= MAX_SEALED_BYTES ? sealed : undefined;
}

/** Decrypts a response. Returns undefined if it is not what was sealed. Doesn't block for long. */
export async function unsealResult(sealed: Buffer, key: KeyObject, bound: string): Promise<UpstreamResult | undefined> {
  try {
    const packed = unseal(sealed, key, bound);
    const bytes = packed.subarray(1);
    const options = { maxOutputLength: MAX_JSON_BYTES };
    const json =
      packed[0] === PLAIN[0]
        ? bytes
        : bytes.length > ASYNC_COMPRESSED_ABOVE
          ? await inflateAside(bytes, options)
          : inflateRawSync(bytes, options);
    const result: unknown = JSON.parse(json.toString());
    return isResult(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

const isResult = (value: unknown): value is UpstreamResult => isRecord(value) && 'body' in value;

function seal(bytes: Buffer, key: KeyObject, bound: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts bytes. Throws if they were changed, or were sealed with another key or bound to another text. */
function unseal(sealed: Buffer, key: KeyObject, bound: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(bound)).setAuthTag(tag);
  const bytes = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([bytes, decipher.final()]);
}
