import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileError, fileFingerprint, readTextFile } from '../../lib/text-file.ts';
import { assertIds, type Manifest, ManifestError, parseManifest } from './manifest.ts';

/** Maximum size of a manifest, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Manifests that can be reloaded while the process runs. */
export interface ManifestFiles {
  /** Returns the current manifests: the same array until one changes. */
  manifests(): readonly Manifest[];
  /** Reads the files again if one has changed. @throws {ManifestError} if one cannot be used; the current manifests stay in use */
  reload(): void;
}

/**
 * Reads manifests from files, and from all files in a folder that end in `.json`.
 *
 * @param sources inline manifests, or paths of files and folders
 * @throws {ManifestError} if a manifest cannot be used
 */
export function createManifestFiles(sources: readonly (string | Manifest)[]): ManifestFiles {
  const paths = sources.filter((source) => typeof source === 'string');
  const inline = sources.filter((source) => typeof source !== 'string');
  let fingerprint: string | undefined;
  let current: readonly Manifest[] = inline;

  function reload(): void {
    const files = paths.flatMap(findManifests);
    const newFingerprint = files.map((file) => file.fingerprint).join('\n');
    if (newFingerprint !== fingerprint) {
      const manifests = [...inline, ...files.map(({ file }) => readManifest(file))];
      assertIds(manifests);
      current = manifests;
      fingerprint = newFingerprint;
    }
  }

  reload();
  return { manifests: () => current, reload };
}

/** Problem of one of the sources. */
export interface ManifestProblem {
  /** Index of the source; undefined if several contradict each other. */
  index?: number;
  /** Problem as a clause. */
  problem: string;
}

/** Reads manifests, and returns the problems of all files. */
export function findManifestProblems(sources: readonly (string | Manifest)[]): ManifestProblem[] {
  const problems = sources.flatMap((source, index) =>
    typeof source === 'string' ? problemsAt(source).map((problem) => ({ index, problem })) : [],
  );
  return problems.length > 0
    ? problems
    : problemsOf(() => createManifestFiles(sources)).map((problem) => ({ problem }));
}

/** Returns the problems of a file, or of all files in a folder. */
function problemsAt(path: string): string[] {
  let files: string[] = [];
  const unreadable = problemsOf(() => {
    files = findManifests(path).map(({ file }) => file);
  });
  return [...unreadable, ...files.flatMap((file) => problemsOf(() => readManifest(file)))];
}

function problemsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ManifestError) {
      return [error.message];
    }
    throw error;
  }
}

function findManifests(path: string) {
  try {
    const names = statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => name.endsWith('.json'))
          .sort()
          .map((name) => join(path, name))
      : [path];
    return names.map((file) => ({ file, fingerprint: fileFingerprint(file) }));
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new ManifestError(`the manifest ${path} ${isMissing ? "doesn't exist" : "can't be read"}`, { cause });
  }
}

function readManifest(file: string): Manifest {
  try {
    return parseManifest(readTextFile(file, MAX_BYTES));
  } catch (cause) {
    if (cause instanceof FileError) {
      throw new ManifestError(`the manifest ${file} ${cause.message}`, { cause });
    }
    const reason = cause instanceof ManifestError ? cause.message : 'it is invalid';
    throw new ManifestError(`the manifest ${file} cannot be used: ${reason}`, { cause });
  }
}
