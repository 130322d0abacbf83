// Caches responses in the memory of this process.

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { UpstreamResult } from '../request.ts';
import {
  type CachedKind,
  type CacheStore,
  type EntryAddress,
  type Lookup,
  OpenWrites,
  type Owner,
  type StoreStats,
  UNKNOWN_WRITE,
  UNKNOWN_WRITE_MS,
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

export type MemoryStore = ReturnType<typeof createMemoryStore>;

/** Creates a store in the memory of this process. Bodies are kept as parsed, so that a hit costs no parsing. */
export function createMemoryStore({
  maxBytes,
  now = () => performance.now(),
  unknownWriteMs = UNKNOWN_WRITE_MS,
}: {
  /** Maximum size of all entries, in bytes. */
  maxBytes: number;
  /** Monotonic clock, in milliseconds. @default performance.now */
  now?: (() => number) | undefined;
  /** Time for which a write with an unknown outcome counts as being in progress. @default UNKNOWN_WRITE_MS */
  unknownWriteMs?: number;
}) {
  /** Key of the digests, so that the memory has no list of credentials. */
  const secret = randomBytes(32).toString('base64');
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * MAX_SHARE),
    sizeCalculation: ({ result }, key) => BYTES_PER_ENTRY + 2 * (result.bytes + key.length),
    dispose: (_entry, _key, reason) => {
      evictions += reason === 'evict' ? 1 : 0;
    },
  });
  const versions = new LRUCache<string, string>({ max: MAX_VERSIONS });
  /** Writes in progress. They are not evicted, because reads depend on them. */
  const writes = new OpenWrites();
  /** Number of the last beginning or end of a write. A first version is only as good as a lookup that no write has followed. */
  let epoch = 0;
  let lastVersion = 0;
  let evictions = 0;

  function createVersion(): string {
    lastVersion += 1;
    return String(lastVersion);
  }

  /** Replaces those that exist: keys that nobody has read with would push out those of others. */
  function replaceVersions(keys: readonly string[]): void {
    epoch += 1;
    for (const key of keys) {
      if (versions.has(key)) {
        versions.set(key, createVersion());
      }
    }
  }

  /** Takes 1 µs, `createHmac` 15 µs. The secret's length is fixed and the digest stays in this process, so an HMAC would add nothing. */
  function keyOf({ address, credential }: Owner, kind: CachedKind): string {
    return `${hash('sha256', `${secret}${address}\n${credential}`, 'base64')} ${kind}`;
  }

  return {
    connected: async () => {},
    find({ owner, kind, read }: EntryAddress): Lookup {
      const at = now();
      const owned = keyOf(owner, kind);
      const version = versions.get(owned);
      const visibleVersion = version ?? `none ${epoch}`;
      if (writes.has(owned, at)) {
        return { entry: undefined, version: `${visibleVersion} writing`, at };
      }
      if (version === undefined) {
        return { entry: undefined, version: visibleVersion, at };
      }
      const key = `${owned} ${read}`;
      const entry = entries.get(key);
      if (entry?.version !== version || entry.expiresAt <= at) {
        entries.delete(key);
        return { entry: undefined, version, at };
      }
      return { entry: { result: entry.result, ageMs: at - entry.at }, version, at };
    },
    put(
      { owner, kind, read }: EntryAddress,
      { version, at }: Lookup,
      result: UpstreamResult,
      lifetimeMs: number,
    ): void {
      const owned = keyOf(owner, kind);
      const isFirst = version === `none ${epoch}`; // No write has come since the lookup.
      const current = versions.get(owned) ?? createVersion();
      if (version?.startsWith('none ')) {
        versions.set(owned, current); // Otherwise, frequent writes of others would keep new owners from storing anything.
      }
      if (!isFirst && version !== current) {
        return;
      }
      const key = `${owned} ${read}`;
      const existing = entries.peek(key);
      const isNewer = existing === undefined || existing.version !== current || existing.at <= at; // A later read may have been faster.
      if (isNewer) {
        entries.set(key, { version: current, result, at, expiresAt: at + lifetimeMs });
      }
    },
    beginWrite(owner: Owner, kinds: readonly CachedKind[], maxMs: number): WriteInProgress {
      const keys = kinds.map((kind) => keyOf(owner, kind));
      replaceVersions(keys);
      const write = String(epoch);
      writes.begin(keys, write, now(), maxMs);
      return {
        end(isUnknown) {
          replaceVersions(keys);
          writes.end(keys, write);
          if (isUnknown) {
            writes.begin(keys, UNKNOWN_WRITE, now(), unknownWriteMs);
          }
        },
      };
    },
    drop(owner: Owner, kinds: readonly CachedKind[]): void {
      for (const kind of kinds) {
        versions.delete(keyOf(owner, kind));
      }
      epoch += 1;
    },
    stats: (): StoreStats => ({ entries: entries.size, bytes: entries.calculatedSize, evictions }),
    async [Symbol.asyncDispose](): Promise<void> {
      entries.clear();
      versions.clear();
    },
  } satisfies CacheStore;
}
