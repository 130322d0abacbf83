import { join } from 'node:path';
import type { WatchedFiles } from '../../lib/files/file-watcher.ts';
import { createSettledFiles } from '../../lib/files/settled-files.ts';
import { FileError, isFolder, readFolder, readTextFile } from '../../lib/files/text-file.ts';
import { assertIds, type Manifest, ManifestError, parseManifest } from './manifest.ts';

/** Maximum size of a manifest, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Manifests that can be reloaded while the process runs. */
export interface ManifestFiles extends WatchedFiles {
  /** Returns the current manifests: the same array until one changes. */
  manifests(): readonly Manifest[];
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
  const files = createSettledFiles(readManifest);
  let current: readonly Manifest[] | undefined;
  let problem: unknown;

  function reload(): void {
    const hasChanged = files.look(paths.flatMap(findManifests).map((file) => [file, file]));
    if (hasChanged || current === undefined) {
      try {
        const manifests = [...inline, ...[...files.values().values()].map((read) => read())];
        assertIds(manifests);
        current = manifests;
        problem = undefined;
      } catch (error) {
        problem = error;
      }
    }
    if (problem !== undefined) {
      throw problem;
    }
  }

  reload();
  return { manifests: () => current ?? inline, reload, isSettling: files.isSettling };
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
    files = findManifests(path);
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
