import { type AppOperation, sha256 } from './documents.ts';

/**
 * Writes the trusted documents of an app as JSON: each text under its SHA-256 in hex.
 *
 * @param otherTexts texts that are trusted besides the printed operations
 */
export function writeManifest(operations: readonly AppOperation[], otherTexts: readonly string[]): string {
  const texts = [...operations.map(({ text }) => text), ...otherTexts];
  const entries = texts.map((text): [hash: string, text: string] => [sha256(text), text]);
  return `${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
}
