import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Documents by their ids: those that an app of one version sends. */
export type Manifest = Readonly<Record<string, string>>;

/** Why a manifest cannot be used: one clause. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** The id that a document has without a manifest's saying so. */
export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** An id that says how it was made. */
const SHA256_ID = /^(?:sha256:)?([0-9a-f]{64})$/;

const plainFormat = z.record(z.string(), z.string());

/** What `@apollo/generate-persisted-query-manifest` writes. */
const apolloFormat = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** An id as it is looked up: clients and manifests may say how it was made. */
export const withoutHashPrefix = (id: string): string => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id);

/**
 * Reads a manifest: a JSON object of texts by id, or Apollo's format.
 *
 * @throws {ManifestError} also when an id that is a SHA-256 is another text's: then the file was changed by hand, or broken
 */
export function parseManifest(text: string): Manifest {
  const manifest = readFormat(parseJson(text));
  assertIds([manifest]);
  return manifest;
}

/**
 * Makes sure that every id means one document: an app that was built before must not be given another one's.
 *
 * @throws {ManifestError}
 */
export function assertIds(manifests: readonly Manifest[]): void {
  const texts = new Map<string, string>();
  for (const [id, document] of manifests.flatMap((manifest) => Object.entries(manifest))) {
    const hash = SHA256_ID.exec(id)?.[1];
    if (hash !== undefined && hash !== sha256Of(document)) {
      throw new ManifestError(`the text under the id ${shorten(id)} has another SHA-256`);
    }
    if ((texts.get(withoutHashPrefix(id)) ?? document) !== document) {
      throw new ManifestError(`the id ${shorten(id)} stands for two documents`);
    }
    texts.set(withoutHashPrefix(id), document);
  }
}

const shorten = (id: string): string => (id.length > 40 ? `${id.slice(0, 20)}…` : id);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ManifestError('it is not JSON', { cause });
  }
}

function readFormat(value: unknown): Manifest {
  const apolloResult = apolloFormat.safeParse(value);
  if (apolloResult.success) {
    const { operations } = apolloResult.data;
    assertIds(operations.map(({ id, body }) => ({ [id]: body }))); // Two of one id would become one.
    return Object.fromEntries(operations.map(({ id, body }) => [id, body]));
  }
  const parsed = plainFormat.safeParse(value);
  if (!parsed.success) {
    throw new ManifestError('it is neither an object of documents by id nor a manifest of Apollo');
  }
  return parsed.data;
}
