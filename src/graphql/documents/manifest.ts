import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '../../lib/is-record.ts';

/** Texts of the documents that one version of an app sends, by id. */
export type Manifest = Readonly<Record<string, string>>;

/** Reason why a manifest cannot be used. The message is a clause for use in a sentence. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Returns the SHA-256 of a document as hex, its default id. */
export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Form of ids that are a SHA-256. */
const SHA256_ID = /^(?:sha256:)?([0-9a-f]{64})$/;

const plainFormat = z.record(z.string(), z.string());

/** Format of `@apollo/generate-persisted-query-manifest`. */
const apolloFormat = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** Returns an id as it is looked up, without the prefix `sha256:` that clients and manifests may add. */
export const withoutHashPrefix = (id: string): string => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id);

/**
 * Parses a manifest: a JSON object of texts by id, or Apollo's format.
 *
 * @throws {ManifestError} if the format is unknown, or an id is the SHA-256 of another text because the file was edited or damaged
 */
export function parseManifest(text: string): Manifest {
  const manifest = readFormat(parseJson(text));
  assertIds([manifest]);
  return manifest;
}

/**
 * Checks that every id stands for one document, so that no app executes the document of another.
 *
 * @throws {ManifestError} if an id stands for two documents, or is the SHA-256 of another text
 */
export function assertIds(manifests: readonly Manifest[]): void {
  const texts = new Map<string, string>();
  for (const [id, document] of manifests.flatMap((manifest) => Object.entries(manifest))) {
    const hash = SHA256_ID.exec(id)?.[1];
    if (hash !== undefined && hash !== sha256Of(document)) {
      throw new ManifestError(`the id ${shortenId(id)} is not the SHA-256 of its text`);
    }
    if ((texts.get(withoutHashPrefix(id)) ?? document) !== document) {
      throw new ManifestError(`the id ${shortenId(id)} stands for two documents`);
    }
    texts.set(withoutHashPrefix(id), document);
  }
}

/** Returns the beginning of an id, for messages. */
export const shortenId = (id: string): string => (id.length > 40 ? `${id.slice(0, 20)}…` : id);

/** Returns the place of a syntax error, which V8 names in most messages. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(error)) ?? [];
  return line === undefined ? '' : ` (line ${line}, column ${column})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ManifestError(`it is not JSON${placeOf(cause)}`, { cause });
  }
}

function readFormat(value: unknown): Manifest {
  const apolloResult = apolloFormat.safeParse(value);
  if (apolloResult.success) {
    const { operations } = apolloResult.data;
    assertIds(operations.map(({ id, body }) => ({ [id]: body }))); // Before duplicate ids are merged.
    return Object.fromEntries(operations.map(({ id, body }) => [id, body]));
  }
  if (isRecord(value) && Object.hasOwn(value, '__proto__')) {
    throw new ManifestError('the id __proto__ is not supported'); // zod would drop it, and its document would be unknown.
  }
  const parsed = plainFormat.safeParse(value);
  if (!parsed.success) {
    throw new ManifestError('it is neither an object of documents by id nor an Apollo manifest');
  }
  return parsed.data;
}
