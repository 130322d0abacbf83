import { randomUUID } from 'node:crypto';
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readCounters } from './counter-memory.ts';
import type { MetricSamples } from './metrics-snapshot.ts';

/** File for the counters of another process. It has no name, so nothing is left of it when both processes have ended. */
export interface CounterFile {
  /** File descriptor, which the other process inherits. */
  readonly fd: number;
  /** Returns what the other process saved. */
  read(): MetricSamples[];
  close(): void;
}

/** Creates a file in the first folder that permits it. Returns undefined if none does. */
export function createCounterFile(folders: readonly string[]): CounterFile | undefined {
  for (const folder of folders) {
    const path = join(folder, `notigraph-${randomUUID()}`);
    try {
      const fd = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      return { fd, read: () => readCounters(fd), close: () => closeSync(fd) };
    } catch {
      // The next folder may be writable.
    }
  }
  return undefined;
}
