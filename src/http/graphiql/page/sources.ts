import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** Folders whose files are in the page. */
const FOLDERS = [new URL('.', import.meta.url), new URL('../../../client/', import.meta.url)];

/** Returns a digest of the page's sources, which tells whether a build is up to date. */
export function digestSources(): string {
  const digest = createHash('sha256');
  for (const folder of FOLDERS) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (file.includes('.')) {
        // Not a folder.
        digest.update(file).update(readFileSync(new URL(file, folder)));
      }
    }
  }
  return digest.digest('base64url');
}
