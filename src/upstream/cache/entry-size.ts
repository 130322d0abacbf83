import { HeapEstimate, sizeOfText } from './heap-size.ts';
import type { StoredEntry } from './partition.ts';

/** Size of an entry's own object, and of its places in the map of its partition and the list of the least recently used. */
const BOOKKEEPING = 300;

/** Size of a partition with its digest. */
const PARTITION = 900;

/** Returns the size of an entry on the heap. One entry of each partition includes the partition. */
export type EntrySize = (entry: Pick<StoredEntry, 'path' | 'result' | 'tags'>, countsPartition: boolean) => number;

/** Creates the function that estimates the sizes of a store's entries. */
export function createEntrySize(): EntrySize {
  const heap = new HeapEstimate();
  return ({ path, result, tags }, countsPartition) =>
    BOOKKEEPING + (countsPartition ? PARTITION : 0) + sizeOfText(path) + heap.sizeOf(result) + heap.sizeOf(tags);
}
