// Measures the heap of the process of the tests.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns the size of the heap and of the buffers outside it after garbage collection, in bytes. */
export function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect(); // V8 frees buffers in the background after a collection, and waits for that only at the start of the next one.
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** Growth below which the heap counts as settled, in bytes. */
const SETTLED = 16 * 1024;

/** Returns the size of the heap once nothing that earlier tests of the process left behind is freed any more. */
export async function settledBytes(): Promise<number> {
  let bytes = bytesInUse();
  for (let round = 0; round < 20; round += 1) {
    await nextTurn();
    const next = bytesInUse();
    if (Math.abs(next - bytes) < SETTLED) {
      return next;
    }
    bytes = next;
  }
  return bytes;
}
