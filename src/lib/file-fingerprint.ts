import { statSync } from 'node:fs';

/** Returns a string that changes with the file, and when a link points to another file. Throws if the file doesn't exist. */
export function fileFingerprint(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  return `${file} ${ino} ${size} ${mtimeMs}`;
}
