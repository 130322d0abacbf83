import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createEntrySize } from './entry-size.ts';
import { Partition, type StoredEntry } from './partition.ts';
import {
  type CacheStore,
  type EntryAddress,
  type Lookup,
  type NewEntry,
  type Owner,
  type StoreStats,
  type Tag,
  UNKNOWN_WRITE_MS,
  type WriteEnd,
  type WriteInProgress,
} from './store.ts';

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** Maximum size of all entries on the heap, in bytes. */
  maxBytes: number;
  /** Monotonic clock, in milliseconds. @default performance.now */
  now?: (() => number) | undefined;
  /** Time for which the tags of a write count as being written after its outcome is unknown. @default UNKNOWN_WRITE_MS */
  unknownWriteMs?: number;
}

/** Share of the store that one entry may take. */
const MAX_SHARE = 1 / 8;

/** Number of partitions from which idle ones are removed. Then they are removed whenever the number of remaining ones has doubled. */
const MIN_SWEEP_SIZE = 1_000;

/** Store in the memory of this process. Bodies are kept as parsed, so that a hit costs no parsing. */
export class MemoryStore implements CacheStore {
  readonly #now: () => number;
  readonly #unknownWriteMs: number;
  readonly #maxEntryBytes: number;
  /** Key of the digests, so that the memory has no list of credentials. */
  readonly #secret = randomBytes(32).toString('base64');
  readonly #partitions = new Map<string, Partition>();
  readonly #recent: LRUCache<StoredEntry, StoredEntry>;
  readonly #sizeOf = createEntrySize();
  #created = 0;
  #sweepSize = MIN_SWEEP_SIZE;
  #evictions = 0;

  constructor({ maxBytes, now = () => performance.now(), unknownWriteMs = UNKNOWN_WRITE_MS }: MemoryStoreOptions) {
    this.#now = now;
    this.#unknownWriteMs = unknownWriteMs;
    this.#maxEntryBytes = Math.floor(maxBytes * MAX_SHARE);
    this.#recent = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ size }) => size,
      dispose: (entry, _, reason) => {
        const { partition, path } = entry;
        if (partition.entries.get(path) === entry) {
          partition.entries.delete(path);
        }
        if (partition.counted === entry) {
          partition.counted = undefined;
        }
        if (reason === 'evict') {
          this.#evictions += 1;
          this.#removeIfIdle(partition, this.#now());
        }
      },
    });
  }

  async connected(): Promise<void> {}

  find({ owner, path }: EntryAddress): Lookup {
    const now = this.#now();
    const partition = this.#partitionOf(owner);
    const moment = partition.moment(now);
    const entry = partition.entries.get(path);
    if (entry === undefined) {
      return { entry: undefined, moment };
    }
    if (entry.expiresAt <= now) {
      this.#recent.delete(entry);
      return { entry: undefined, moment };
    }
    if (!partition.isCurrent(entry.tags, entry.number, now)) {
      return { entry: undefined, moment };
    }
    this.#recent.get(entry);
    return { entry: { result: entry.result, tags: entry.tags, ageMs: now - entry.startedAt }, moment };
  }

  ageOf({ owner, path }: EntryAddress): number | undefined {
    const now = this.#now();
    const partition = this.#partitions.get(this.#digest(owner));
    const entry = partition?.entries.get(path);
    const isUsable =
      entry !== undefined && entry.expiresAt > now && partition?.isCurrent(entry.tags, entry.number, now) === true;
    return isUsable ? now - entry.startedAt : undefined;
  }

  put({ owner, path }: EntryAddress, { result, tags, moment, ageMs, lifetimeMs }: NewEntry): void {
    const now = this.#now();
    const partition = this.#partitions.get(this.#digest(owner));
    const number = partition?.numberOf(moment);
    if (partition === undefined || number === undefined || !partition.isCurrent(tags, number, now)) {
      return;
    }
    const startedAt = now - ageMs;
    const existing = partition.entries.get(path);
    if (existing !== undefined && existing.startedAt > startedAt) {
      return; // A later read was faster.
    }
    if (existing !== undefined) {
      this.#recent.delete(existing);
    }
    const countsPartition = partition.counted === undefined;
    const entry: StoredEntry = {
      partition,
      path,
      result,
      tags,
      number,
      startedAt,
      expiresAt: startedAt + lifetimeMs,
      size: this.#sizeOf({ path, result, tags }, countsPartition),
    };
    if (entry.size > this.#maxEntryBytes) {
      return;
    }
    partition.entries.set(path, entry);
    this.#recent.set(entry, entry);
    if (countsPartition) {
      partition.counted = entry;
    }
  }

  beginWrite(owner: Owner, tags: readonly Tag[], maxMs: number): WriteInProgress {
    const marked = this.#partitionOf(owner);
    const mark = marked.mark(tags, this.#now() + maxMs);
    return {
      end: (outcome: WriteEnd, more: readonly Tag[] = []) => {
        marked.unmark(mark);
        const partition = this.#partitionOf(owner); // Another one if this write took so long that the mark ended before.
        if (outcome !== 'not applied') {
          partition.written([...tags, ...more]);
        }
        if (outcome === 'unknown') {
          partition.mark([...tags, ...more], this.#now() + this.#unknownWriteMs);
        }
      },
    };
  }

  drop(owner: Owner): void {
    const partition = this.#partitions.get(this.#digest(owner));
    if (partition === undefined) {
      return;
    }
    partition.drop();
    for (const entry of [...partition.entries.values()]) {
      this.#recent.delete(entry);
    }
    this.#removeIfIdle(partition, this.#now());
  }

  stats(): StoreStats {
    return { entries: this.#recent.size, bytes: this.#recent.calculatedSize, evictions: this.#evictions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#recent.clear();
    this.#partitions.clear();
  }

  /** Returns the partition of a credential, and creates it if necessary. */
  #partitionOf(owner: Owner): Partition {
    const digest = this.#digest(owner);
    const existing = this.#partitions.get(digest);
    if (existing !== undefined) {
      return existing;
    }
    if (this.#partitions.size >= this.#sweepSize) {
      this.#sweep();
    }
    this.#created += 1;
    const partition = new Partition(digest, this.#created);
    this.#partitions.set(digest, partition);
    return partition;
  }

  #sweep(): void {
    const now = this.#now();
    for (const partition of this.#partitions.values()) {
      this.#removeIfIdle(partition, now);
    }
    this.#sweepSize = Math.max(MIN_SWEEP_SIZE, 2 * this.#partitions.size);
  }

  /** Removes a partition that is idle. Reads in flight can't store their responses, because the next partition has other moments. */
  #removeIfIdle(partition: Partition, now: number): void {
    if (partition.isIdle(now)) {
      this.#partitions.delete(partition.digest);
    }
  }

  /** Takes 1 µs, `createHmac` 15 µs. The secret's length is fixed and the digest stays in this process, so an HMAC would add nothing. */
  #digest({ upstream, credential }: Owner): string {
    return hash('sha256', `${this.#secret}${upstream}\n${credential}`, 'base64');
  }
}
