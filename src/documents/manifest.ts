// Reads manifests of trusted documents, and reloads them when their files change.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { createWatchedFiles, type WatchedFiles } from '../files/file-watcher.ts';
import type { SourceProblem } from '../files/secret-files.ts';
import { FileError, fingerprintOf, isFolder, readFolder, readTextFile } from '../files/text-file.ts';
import { caught, SetupError } from '../lib/caught.ts';
import { isRecord } from '../lib/is-record.ts';

/** Texts of the documents that one version of an app sends, by id. */
export type Manifest = Readonly<Record<string, string>>;

/** Reason why a manifest cannot be used. */
export class ManifestError extends SetupError {
  override readonly name = 'ManifestError';
}

/** Returns the SHA-256 of a document as hex, its default id. */
export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

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
 * Checks that every id stands for one document, so that no app executes the document of another.
 *
 * @throws {ManifestError} if an id stands for two documents, or is the SHA-256 of another text because the file was edited or damaged
 */
function assertIds(documents: readonly (readonly [id: string, text: string])[]): void {
  const texts = new Map<string, string>();
  for (const [id, document] of documents) {
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

export const shortenId = (id: string): string => (id.length > 40 ? `${id.slice(0, 20)}…` : id);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(cause)) ?? []; // V8 names the place in most messages.
    const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
    throw new ManifestError(`it is not JSON${place}`, { cause });
  }
}

/** Reads a JSON object of texts by id, or Apollo's format. */
function readFormat(value: unknown): [id: string, text: string][] {
  const apolloResult = apolloFormat.safeParse(value);
  if (apolloResult.success) {
    return apolloResult.data.operations.map(({ id, body }) => [id, body]);
  }
  if (isRecord(value) && Object.hasOwn(value, '__proto__')) {
    throw new ManifestError('the id __proto__ is not supported'); // zod would drop it, and its document would be unknown.
  }
  const parsed = plainFormat.safeParse(value);
  if (!parsed.success) {
    throw new ManifestError('it is neither an object of documents by id nor an Apollo manifest');
  }
  return Object.entries(parsed.data);
}

const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Manifests that can be reloaded while the process runs. */
export interface ManifestFiles extends WatchedFiles {
  /** Returns the current manifests: the same array until one changes. */
  manifests(): readonly Manifest[];
}

/**
 * Reads manifests from files, and from all files in a folder that end in `.json`.
 *
 * @param sources inline manifests, or paths of files and folders
 * @param onReload called with all manifests after one has changed
 * @throws {ManifestError} if a manifest cannot be used
 */
export function createManifestFiles(
  sources: readonly (string | Manifest)[],
  onReload: (manifests: readonly Manifest[]) => void = () => {},
): ManifestFiles {
  let current: readonly Manifest[] | undefined;
  const files = createWatchedFiles(
    () => fingerprintOf(sources.flatMap((source) => (typeof source === 'string' ? findManifests(source) : []))),
    (): Manifest[] =>
      sources.flatMap((source) => (typeof source === 'string' ? findManifests(source).map(readManifest) : [source])),
    (manifests) => {
      assertIds(manifests.flatMap((manifest) => Object.entries(manifest)));
      const isReload = current !== undefined;
      current = manifests;
      if (isReload) {
        onReload(manifests);
      }
    },
    'manifests',
  );
  return { ...files, manifests: () => current ?? [] };
}

/**
 * Returns the paths of the manifests at a path: itself, or the files in a folder.
 *
 * @throws {ManifestError} if it can't be read
 */
function findManifests(path: string): string[] {
  try {
    if (!isFolder(path)) {
      return [path];
    }
    const names = readFolder(path).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => join(path, name));
  } catch (cause) {
    throw cause instanceof FileError ? new ManifestError(`the manifest ${path} ${cause.message}`, { cause }) : cause;
  }
}

/** @throws {ManifestError} if the manifest can't be used */
function readManifest(file: string): Manifest {
  try {
    const documents = readFormat(parseJson(readTextFile(file, MAX_MANIFEST_BYTES)));
    assertIds(documents);
    return Object.fromEntries(documents);
  } catch (cause) {
    if (cause instanceof FileError) {
      throw new ManifestError(`the manifest ${file} ${cause.message}`, { cause });
    }
    throw cause instanceof ManifestError
      ? new ManifestError(`the manifest ${file} cannot be used: ${cause.message}`, { cause })
      : cause;
  }
}

/** Returns the problems of manifests in files by the names of their paths: of each, or else of all together. */
export function findManifestProblems(paths: Readonly<Record<string, unknown>>): readonly SourceProblem[] {
  const documents: [id: string, text: string][] = [];
  const attempt = (name: string | undefined, read: () => void): SourceProblem[] => {
    const error = caught(ManifestError, read);
    return error === undefined ? [] : [{ ...(name !== undefined && { name }), problem: error.message }];
  };
  const problems = Object.entries(paths).flatMap(([name, path]) => {
    const files: string[] = [];
    const unreadable = attempt(name, () => typeof path === 'string' && files.push(...findManifests(path)));
    const read = (file: string) => attempt(name, () => documents.push(...Object.entries(readManifest(file))));
    return [...unreadable, ...files.flatMap(read)];
  });
  const [first, ...others] = Object.keys(paths);
  return problems.length > 0 ? problems : attempt(others.length === 0 ? first : undefined, () => assertIds(documents));
}
