import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { memoize } from '../../lib/memoize.ts';
import type { Owner, Tag } from './store.ts';

/** Keys and names of a partition in Redis. Without the secret and the credential, none can be derived, recognized or read. */
export interface PartitionKeys {
  /** Key of the partition's state. */
  readonly state: string;
  /** Key of AES-256-GCM. Each credential has its own, so that random nonces never repeat. */
  readonly encryption: KeyObject;
  /** Returns the key of the entry for a path. */
  entryOf(path: string): string;
  /** Returns the digests of tags, comma-separated. */
  digestsOf(tags: readonly Tag[]): string;
}

/** Part of the derivation, so that versions of Notigraph with another format don't see each other's values. */
const FORMAT = 'notigraph cache 1';

/** Maximum credentials whose keys are kept. Deriving them takes 20 µs. */
const MAX_KEPT = 1_000;

/** Bytes of a tag's digest. If two tags had the same one, writes of one would invalidate entries of both. */
const TAG_BYTES = 12;

/** Creates a function that derives the keys of partitions. */
export function createPartitionKeys(secret: string, prefix: string): (owner: Owner) => PartitionKeys {
  const derive = memoize((owner) => deriveKeys(secret, prefix, owner), MAX_KEPT);
  return ({ upstream, credential }) => derive(`${upstream}\n${credential}`); // A URL has no line break.
}

function deriveKeys(secret: string, prefix: string, owner: string): PartitionKeys {
  const seed = createHmac('sha256', secret).update(owner).digest();
  const bytes = Buffer.from(hkdfSync('sha256', seed, '', FORMAT, 80));
  const [encryption, naming] = [createSecretKey(bytes.subarray(0, 32)), createSecretKey(bytes.subarray(32, 64))]; // As bytes, they cost 15 µs per use.
  const id = bytes.toString('base64url', 64);
  const digest = (kind: string, text: string) => createHmac('sha256', naming).update(`${kind} ${text}`).digest();
  return {
    encryption,
    state: `${prefix}state:${id}`,
    entryOf: (path) => `${prefix}entry:${digest('path', path).toString('base64url')}`,
    digestsOf: (tags) => tags.map((tag) => digest('tag', tag).toString('base64url', 0, TAG_BYTES)).join(','),
  };
}
