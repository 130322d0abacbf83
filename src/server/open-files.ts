import { readFileSync } from 'node:fs';

/** Open files reserved for other purposes: sockets to the upstream and Redis, files, and a connection that is about to be closed. */
const RESERVED_FILES = 256;

/** Share of a small limit for clients, if `RESERVED_FILES` would leave too few. */
const CLIENT_SHARE = 0.5;

/**
 * Returns the maximum number of client connections for this process, because each one is an open file; Infinity if the limit is unknown. At the
 * system's limit, no connection would be accepted, so no slow one could be closed in favor of a new one.
 */
export function maxClientFiles(limits = readLimits()): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return limit === undefined
    ? Number.POSITIVE_INFINITY
    : Math.floor(Math.max(Number(limit) - RESERVED_FILES, Number(limit) * CLIENT_SHARE));
}

/** Reads the limits of this process, which only Linux has as a file. Node.js raises the soft limit to the hard one at startup. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
