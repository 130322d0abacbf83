import type { UpstreamResult } from '../transport/exchange.ts';

/**
 * Credential of an upstream, which owns its entries: its *partition*. No option shares entries across partitions. Stores keep only a keyed
 * digest of it.
 */
export interface Owner {
  /** Base address of the service. */
  readonly upstream: string;
  /** `Authorization` header. */
  readonly credential: string;
}

/** Place of an entry. */
export interface EntryAddress {
  readonly owner: Owner;
  /** Path of a GET, with its query. */
  readonly path: string;
}

/**
 * Moment in the order of a partition's reads and writes. Every write, and dropping the partition, makes a new one. Two equal texts are the same
 * moment, so that reads that start at the same one can share an upstream call.
 */
export type Moment = string;

/** Something that responses show and writes change, such as `groups` or `group:4f1d`. Contains ids in lower case. */
export type Tag = string;

/** Stored response. */
export interface Entry {
  result: UpstreamResult;
  /** Things that the response shows. */
  tags: readonly Tag[];
}

/** Entry that was found. */
export interface FoundEntry extends Entry {
  /** Time since the start of the upstream call that returned or last confirmed it, in milliseconds. */
  ageMs: number;
}

/** Result of a lookup. */
export interface Lookup {
  /**
   * Usable entry, of any age up to its lifetime: no write of any of its tags is in progress or has ended since its moment. Undefined if there is
   * none, or the store can't tell.
   */
  entry: FoundEntry | undefined;
  /** Moment of the lookup; undefined if the store is unavailable. Then nothing can be stored. */
  moment: Moment | undefined;
}

/** Entry to store. */
export interface NewEntry extends Entry {
  /** Moment of the lookup before its read started. */
  moment: Moment;
  /** Time since the start of its read, in milliseconds. */
  ageMs: number;
  /** Age at which it is removed, in milliseconds. */
  lifetimeMs: number;
}

/**
 * Outcome of a write. `not applied` is certain, so the entries stay usable. After `unknown`, the service may still apply the write, so its tags
 * count as being written for a while longer.
 */
export type WriteEnd = 'applied' | 'not applied' | 'unknown';

/** Time for which the tags of a write with an unknown outcome count as being written after its end, in milliseconds. */
export const UNKNOWN_WRITE_MS = 30_000;

/** Write in progress. */
export interface WriteInProgress {
  /**
   * Ends the write. Resolves once no reader, in any process, can get an entry that is older than it.
   *
   * @param tags more things that it changed, which are known only from its response. @default none
   */
  end(outcome: WriteEnd, tags?: readonly Tag[]): void | Promise<void>;
}

/** Value now, or a promise of it that never rejects. Stores in memory respond immediately. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Store of responses. Its functions never throw and never reject. A store that is slow or unavailable responds after 100 ms at most, as if it were
 * empty.
 */
export interface CacheStore extends AsyncDisposable {
  /** Resolves once the first attempt to connect has succeeded or failed, after two seconds at most. */
  connected(): Promise<void>;
  /** Looks up an entry. */
  find(address: EntryAddress): MaybePromise<Lookup>;
  /** Returns the age of a usable entry, in milliseconds; undefined if there is none. Unlike a lookup, it doesn't count as use of the entry. */
  ageOf(address: EntryAddress): MaybePromise<number | undefined>;
  /**
   * Stores an entry. Does nothing if, since its moment, a write of one of its tags was in progress or has ended, or its partition was dropped.
   * Resolves when earlier lookups, which may not find the entry, have been answered too.
   */
  put(address: EntryAddress, entry: NewEntry): void | Promise<void>;
  /**
   * Marks a write as being in progress, before it is sent. Entries with one of the tags are not usable until it has ended. If this process is killed,
   * the mark ends by itself, and the write counts as applied.
   *
   * @param maxMs maximum duration of the write
   */
  beginWrite(owner: Owner, tags: readonly Tag[], maxMs: number): MaybePromise<WriteInProgress>;
  /** Removes all entries of a credential that the service no longer accepts. Reads in flight can't store theirs. */
  drop(owner: Owner): void | Promise<void>;
  /** Returns what the store holds, for metrics. */
  stats(): StoreStats;
}

/** Content of a store. */
export interface StoreStats {
  /** Entries in this process; undefined if other processes share the store. */
  entries?: number;
  /** Their size in bytes. */
  bytes?: number;
  /** Entries that were removed because the store was full. */
  evictions?: number;
  /** Problem of the store, for health checks: a clause. Undefined if there is none. */
  problem?: string | undefined;
}
