import { randomBytes } from 'node:crypto';

/** Creates a record id in the real service's format: 24 hexadecimal digits, of which the first eight are the time in seconds. */
export function createId(now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000) >>> 0;
  return seconds.toString(16).padStart(8, '0') + randomBytes(8).toString('hex');
}
