import { isRecord } from '../../lib/is-record.ts';
import type { PartitionKeys } from './partition-keys.ts';
import type { FindReply } from './redis-scripts.ts';
import { pack, seal, unpack, unseal } from './sealed-value.ts';
import type { Entry, FoundEntry, Moment, NewEntry } from './store.ts';

/** Maximum size of an entry as JSON, in bytes. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** Maximum size of an entry in Redis, in bytes. Reading larger ones would delay other lookups on the connection. */
export const MAX_SEALED_BYTES = 1024 * 1024;

/** Entry ready to be stored. */
export interface SealedEntry {
  digests: string;
  /** Text before the sealed value, to which it is bound: moment, digests of the tags, and whether it is compressed. */
  header: string;
  sealed: Buffer;
}

/** Parts of a moment. */
export interface MomentParts {
  epoch: string;
  sequence: number;
}

/** Writes a moment. */
export const toMoment = ({ epoch, sequence }: MomentParts): Moment => `${epoch}.${sequence}`;

/** Reads a moment. */
export function readMoment(moment: Moment): MomentParts {
  const dot = moment.indexOf('.');
  return { epoch: moment.slice(0, dot), sequence: Number(moment.slice(dot + 1)) };
}

/** Returns an entry as JSON. Undefined if it is too large or too deep to be stored. */
export function toJson({ result, tags }: NewEntry): Buffer | undefined {
  try {
    const json = Buffer.from(JSON.stringify({ result, tags }));
    return json.length <= MAX_JSON_BYTES ? json : undefined;
  } catch {
    return undefined; // 20 KB of brackets can be parsed, but exceed the stack here.
  }
}

/** Compresses and encrypts an entry. Returns undefined if it is too large to be stored. */
export async function sealEntry(
  keys: PartitionKeys,
  key: string,
  json: Buffer,
  { moment, tags }: NewEntry,
): Promise<SealedEntry | undefined> {
  const { bytes, isCompressed } = await pack(json);
  const { epoch, sequence } = readMoment(moment);
  const digests = keys.digestsOf(tags);
  const header = `${epoch} ${sequence} ${digests} ${isCompressed ? 'z' : 'j'}`;
  const sealed = seal(bytes, keys.encryption, boundTo(key, header));
  return sealed.length <= MAX_SEALED_BYTES ? { digests, header, sealed } : undefined;
}

/** Decrypts an entry. Returns undefined if it is not what was stored at this key. */
export async function unsealEntry(
  keys: PartitionKeys,
  key: string,
  { ageMs, header, sealed }: NonNullable<FindReply['value']>,
): Promise<FoundEntry | undefined> {
  try {
    const bytes = unseal(sealed, keys.encryption, boundTo(key, header));
    const json = await unpack({ bytes, isCompressed: header.endsWith('z') }, MAX_JSON_BYTES);
    const entry: unknown = JSON.parse(json.toString());
    return isEntry(entry) && ageMs >= 0 ? { result: entry.result, tags: entry.tags, ageMs } : undefined;
  } catch {
    return undefined;
  }
}

const boundTo = (key: string, header: string): string => [key, header].join('\n');

const isEntry = (value: unknown): value is Entry =>
  isRecord(value) && isRecord(value.result) && Array.isArray(value.tags);
