import { statSync } from 'node:fs';

/** Changes whenever the file does, also when another file takes its place through a link. Throws where there is none. */
export function fileFingerprint(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  return `${file} ${ino} ${size} ${mtimeMs}`;
}
