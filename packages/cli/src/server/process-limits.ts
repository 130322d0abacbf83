// What the operating system permits this process: open files and memory.

import { readFileSync } from 'node:fs';
import { constrainedMemory } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { orUndefined } from '../../../../src/lib/caught.ts';
import type { ServerSettings } from './settings.ts';

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
const readLimits = (): string => orUndefined(() => readFileSync('/proc/self/limits', 'utf8')) ?? '';

const MIB = 2 ** 20;

/** Memory of Node.js besides the heap and buffered bodies, in MiB (measured: docs/production.md). */
const NODE_MIB = 80;

/** Memory that the process may use at most and limit of its heap, in bytes. Without a limit of its own, it may use that of the machine. */
const readMemory = () => ({ limit: constrainedMemory(), heap: getHeapStatistics().heap_size_limit });

/**
 * Returns why the process can be ended by the system, with an empty log: its limit is less than it can use. Node.js takes at least 256 MiB for the heap,
 * besides three semi-spaces.
 *
 * @param processes number of processes that share the limit
 */
export function findMemoryProblem(
  { maxBufferedBytes }: Pick<ServerSettings, 'maxBufferedBytes'>,
  processes: number,
  { limit, heap } = readMemory(),
): string | undefined {
  const heapMib = Math.round(heap / MIB);
  const needed = processes * (heapMib + Math.round(maxBufferedBytes / MIB) + NODE_MIB);
  return limit === 0 || limit >= needed * MIB
    ? undefined
    : `The memory limit of ${Math.round(limit / MIB)} MiB is less than the ${needed} MiB that ${processes === 1 ? 'the process' : `${processes} processes`} can use, so the system may kill it: raise it, or lower the heap of ${heapMib} MiB (NODE_OPTIONS=--max-old-space-size) or maxBufferedBytes.`;
}
