import { randomBytes } from 'node:crypto';

/** A new record id: 24 hexadecimal digits, the first eight of them the time in seconds, as the real service has them. */
export function createId(now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000) >>> 0;
  return seconds.toString(16).padStart(8, '0') + randomBytes(8).toString('hex');
}
