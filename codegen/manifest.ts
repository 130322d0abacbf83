import { type AppDocuments, sha256 } from './documents.ts';

/**
 * The trusted documents of an app as JSON: each text under its SHA-256 in hex.
 *
 * @param withSources whether the files' texts, as people copy them, are trusted too
 */
export function writeManifest({ operations, sources }: AppDocuments, withSources: boolean): string {
  const texts = [...operations.map(({ text }) => text), ...(withSources ? sources : [])];
  const entries = texts.map((text): [hash: string, text: string] => [sha256(text), text]);
  return `${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
}
