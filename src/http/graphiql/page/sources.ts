import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('.', import.meta.url);

/** Returns a digest of the page's sources, which tells whether a build is up to date. */
export function digestSources(): string {
  const digest = createHash('sha256');
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.includes('.')) {
      // Not a folder.
      digest.update(file).update(readFileSync(new URL(file, FOLDER)));
    }
  }
  return digest.digest('base64url');
}
