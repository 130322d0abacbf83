// Caches responses in the memory of this process.

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { StoreStats, UpstreamResult } from '../calls.ts';
import {
  type CachedKind,
  type CacheStore,
  type EntryAddress,
  type Lookup,
  OpenWrites,
  type Owner,
  type WriteInProgress,
} from './store.ts';

interface Entry {
  version: string;
  result: UpstreamResult;
  /** Time of the lookup before its read. */
  at: number;
  expiresAt: number;
}

/** Share of the store that one entry may take. */
const MAX_SHARE = 1 / 8;

/** Heap of an entry with its key, without its body. Measured: 400 to 700 bytes. */
const BYTES_PER_ENTRY = 700;

/** Maximum versions. One that is evicted makes its entries unusable. */
const MAX_VERSIONS = 20_000;

/** Store in the memory of this process. Bodies are kept as parsed, so that a hit costs no parsing. */
export class MemoryStore implements CacheStore {
  readonly #now: () => number;
  /** Key of the digests, so that the memory has no list of credentials. */
  readonly #secret = randomBytes(32).toString('base64');
  readonly #entries: LRUCache<string, Entry>;
  readonly #versions = new LRUCache<string, string>({ max: MAX_VERSIONS });
  /** Writes in progress. They are not evicted, because reads depend on them. */
  readonly #writes = new OpenWrites();
  /** Number of the last beginning or end of a write. A first version is only as good as a lookup that no write has followed. */
  #epoch = 0;
  #lastVersion = 0;
  #evictions = 0;

  /**
   * @param options.maxBytes maximum size of all entries
   * @param options.now monotonic clock, in milliseconds. @default performance.now
   */
  constructor({ maxBytes, now = () => performance.now() }: { maxBytes: number; now?: (() => number) | undefined }) {
    this.#now = now;
    this.#entries = new LRUCache<string, Entry>({
      maxSize: maxBytes,
      maxEntrySize: Math.floor(maxBytes * MAX_SHARE),
      sizeCalculation: ({ result }, key) => BYTES_PER_ENTRY + 2 * (result.bytes + key.length),
      dispose: (_entry, _key, reason) => {
        this.#evictions += reason === 'evict' ? 1 : 0;
      },
    });
  }

  async connected(): Promise<void> {}

  find({ owner, kind, read }: EntryAddress): Lookup {
    const at = this.#now();
    const owned = this.#keyOf(owner, kind);
    const version = this.#versions.get(owned);
    const visibleVersion = version ?? `none ${this.#epoch}`;
    if (this.#writes.has(owned, at)) {
      return { entry: undefined, version: `${visibleVersion} writing`, state: 'writing', at };
    }
    if (version === undefined) {
      return { entry: undefined, version: visibleVersion, state: 'new', at };
    }
    const key = `${owned} ${read}`;
    const entry = this.#entries.get(key);
    if (entry?.version !== version || entry.expiresAt <= at) {
      this.#entries.delete(key);
      return { entry: undefined, version, state: 'current', at };
    }
    return { entry: { result: entry.result, ageMs: at - entry.at }, version, state: 'current', at };
  }

  put({ owner, kind, read }: EntryAddress, lookup: Lookup, result: UpstreamResult, lifetimeMs: number): void {
    const { version, state, at } = lookup;
    const owned = this.#keyOf(owner, kind);
    const current = this.#versions.get(owned) ?? this.#createVersion();
    if (state === 'new') {
      this.#versions.set(owned, current); // Otherwise, frequent writes of others would keep new owners from storing anything.
    }
    if (version !== (state === 'new' ? `none ${this.#epoch}` : current)) {
      return; // A write has come since the lookup.
    }
    const key = `${owned} ${read}`;
    const existing = this.#entries.peek(key);
    const isNewer = existing === undefined || existing.version !== current || existing.at <= at; // A later read may have been faster.
    if (isNewer) {
      this.#entries.set(key, { version: current, result, at, expiresAt: at + lifetimeMs });
    }
  }

  beginWrite(owner: Owner, kinds: readonly CachedKind[], maxMs: number): WriteInProgress {
    const keys = kinds.map((kind) => this.#keyOf(owner, kind));
    this.#replaceVersions(keys);
    const write = String(this.#epoch);
    this.#writes.begin(keys, write, this.#now(), maxMs);
    return { end: (unknownMs) => this.#endWrite(keys, write, unknownMs) };
  }

  drop(owner: Owner, kinds: readonly CachedKind[]): void {
    for (const kind of kinds) {
      this.#versions.delete(this.#keyOf(owner, kind));
    }
    this.#epoch += 1;
  }

  stats(): StoreStats {
    return { entries: this.#entries.size, bytes: this.#entries.calculatedSize, evictions: this.#evictions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#entries.clear();
    this.#versions.clear();
  }

  #endWrite(keys: readonly string[], write: string, unknownMs: number): void {
    this.#replaceVersions(keys);
    this.#writes.end(keys, write, this.#now(), unknownMs);
  }

  #createVersion(): string {
    this.#lastVersion += 1;
    return String(this.#lastVersion);
  }

  /** Replaces those that exist: keys that nobody has read with would push out those of others. */
  #replaceVersions(keys: readonly string[]): void {
    this.#epoch += 1;
    for (const key of keys) {
      if (this.#versions.has(key)) {
        this.#versions.set(key, this.#createVersion());
      }
    }
  }

  /** Takes 1 µs, `createHmac` 15 µs. The secret's length is fixed and the digest stays in this process, so an HMAC would add nothing. */
  #keyOf({ address, credential }: Owner, kind: CachedKind): string {
    return `${hash('sha256', `${this.#secret}${address}\n${credential}`, 'base64')} ${kind}`;
  }
}
