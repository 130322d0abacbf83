import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileFingerprint } from '../../lib/file-fingerprint.ts';
import { assertIds, type Manifest, ManifestError, parseManifest } from './manifest.ts';

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
    throw new ManifestError(`the manifest ${path} cannot be read`, { cause });
  }
}

function readManifest(file: string): Manifest {
  try {
    return parseManifest(readFileSync(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof ManifestError ? cause.message : 'it cannot be read';
    throw new ManifestError(`the manifest ${file} cannot be used: ${reason}`, { cause });
  }
}
