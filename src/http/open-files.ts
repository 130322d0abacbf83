import { readFileSync } from 'node:fs';

/** Open files kept free for everything but clients: sockets of the upstream and Redis, files, one connection that is being refused. */
const RESERVED_FILES = 256;

/** Share of a small limit that clients may use, where `RESERVED_FILES` would leave too few. */
const CLIENT_SHARE = 0.5;

/**
 * Returns how many client connections this process can hold: every one is an open file. At the system's limit no connection would be
 * accepted any more, so that no slow one could be closed for it either. Returns Infinity where the limit is unknown.
 */
export function maxClientFiles(limits = readLimits()): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return limit === undefined
    ? Number.POSITIVE_INFINITY
    : Math.floor(Math.max(Number(limit) - RESERVED_FILES, Number(limit) * CLIENT_SHARE));
}

/** Only Linux has this file. Node.js has raised the soft limit to the hard one by now. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
