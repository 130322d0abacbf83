import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';

/** Value before it is encrypted: JSON, possibly compressed. */
export interface PackedValue {
  bytes: Buffer;
  isCompressed: boolean;
}

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

/** Compresses a value. Doesn't block for long. */
export async function pack(json: Buffer): Promise<PackedValue> {
  if (json.length <= COMPRESSED_ABOVE) {
    return { bytes: json, isCompressed: false };
  }
  const bytes = json.length > ASYNC_ABOVE ? await deflateAside(json, DEFLATE) : deflateRawSync(json, DEFLATE);
  return { bytes, isCompressed: true };
}

/** Decompresses a value. Doesn't block for long. Throws or rejects if it is invalid or would be larger than `maxBytes`. */
export function unpack({ bytes, isCompressed }: PackedValue, maxBytes: number): Buffer | Promise<Buffer> {
  if (!isCompressed) {
    return bytes;
  }
  const options = { maxOutputLength: maxBytes };
  return bytes.length > ASYNC_COMPRESSED_ABOVE ? inflateAside(bytes, options) : inflateRawSync(bytes, options);
}

/**
 * Encrypts bytes.
 *
 * @param bound texts to which the result is bound: it can only be decrypted with the same ones
 */
export function seal(bytes: Buffer, key: KeyObject, bound: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts bytes. Throws if they were changed, or were sealed with another key or bound to other texts. */
export function unseal(sealed: Buffer, key: KeyObject, bound: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(bound)).setAuthTag(tag);
  const bytes = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([bytes, decipher.final()]);
}
