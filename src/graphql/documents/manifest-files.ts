import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileFingerprint } from '../../lib/file-fingerprint.ts';
import { assertIds, type Manifest, ManifestError, parseManifest } from './manifest.ts';

/** Manifests that can be added to while the process runs. */
export interface ManifestFiles {
  /** The present ones; another list as soon as one has changed. */
  manifests(): readonly Manifest[];
  /** Looks at the files again. @throws {ManifestError} and keeps what was there */
  reload(): void;
}

/**
 * Reads manifests; of a folder, every file that ends in `.json`.
 *
 * @param sources manifests as they are, or the paths of files and folders
 * @throws {ManifestError} when one cannot be used
 */
export function createManifestFiles(sources: readonly (string | Manifest)[]): ManifestFiles {
  const paths = sources.filter((source) => typeof source === 'string');
  const given = sources.filter((source) => typeof source !== 'string');
  let signature: string | undefined;
  let present: readonly Manifest[] = given;

  function reload(): void {
    const files = paths.flatMap(filesOf);
    const found = files.map(({ signature: each }) => each).join('\n');
    if (found !== signature) {
      const manifests = [...given, ...files.map(({ file }) => readManifest(file))];
      assertIds(manifests);
      present = manifests;
      signature = found;
    }
  }

  reload();
  return { manifests: () => present, reload };
}

function filesOf(path: string) {
  try {
    const names = statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => name.endsWith('.json'))
          .sort()
          .map((name) => join(path, name))
      : [path];
    return names.map((file) => ({ file, signature: fileFingerprint(file) }));
  } catch (cause) {
    throw new ManifestError(`the manifest ${path} cannot be read`, { cause });
  }
}

function readManifest(file: string): Manifest {
  try {
    return parseManifest(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof ManifestError ? cause.message : 'it cannot be read';
    throw new ManifestError(`the manifest ${file} cannot be used: ${why}`, { cause });
  }
}
