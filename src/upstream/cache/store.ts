// The store of a cache, as its users see it: the rules of what is stored for how long and what a write empties, and the interface of stores.

import type { CacheSettings } from '../../settings/settings.ts';
import type { StoreStats, UpstreamResult } from '../calls.ts';
import { type CachedRead, FRESH_SECONDS } from '../declaration/endpoint-options.ts';

/** Credential of an upstream, which owns its entries. No option shares entries across owners. Stores keep only a keyed digest of it. */
export interface Owner {
  /** Address of the service, with what else distinguishes its data. */
  readonly address: string;
  /** `Authorization` header. */
  readonly credential: string;
}

/** Cache of one service. */
export interface ServiceCache {
  readonly store: CacheStore;
  readonly settings: CacheSettings;
  /** Address of the service, with what else distinguishes its data. */
  readonly address: string;
}

/** Reads that a write empties together, such as `workflows` (with their groups) or `statistics`. */
export type CachedKind = string;

export interface EntryAddress {
  readonly owner: Owner;
  readonly kind: CachedKind;
  /** Key of the read: see `readKeyOf`. */
  readonly read: string;
}

/**
 * State of a kind at a lookup, which decides about the response of its read:
 * - `current`: it is stored with the version of the lookup
 * - `new`: the kind has no version yet. It gets its first one, and the response is stored with it if no write has come since
 * - `writing`: a write is in progress, so it isn't stored
 * - `unavailable`: the store doesn't respond, or doesn't know of all writes, so it isn't stored
 */
type KindState = 'current' | 'new' | 'writing' | 'unavailable';

export interface Lookup {
  /** Usable entry, of any age up to its lifetime. Undefined if there is none, a write is in progress, or the store is unavailable. */
  entry: FoundEntry | undefined;
  /**
   * Version of the kind, of which reads with the same one can share an upstream call. Every write replaces it before it is sent and after it has
   * ended. Undefined if the store is unavailable: then no call is shared.
   */
  version: string | undefined;
  state: KindState;
  /** Time of the lookup on the store's clock, in milliseconds. Ages count from here, so that a delayed `put` can't make data younger. */
  at: number;
}

export interface FoundEntry {
  result: UpstreamResult;
  /** Time since the lookup before the upstream call that returned or last confirmed it, in milliseconds. */
  ageMs: number;
}

export interface WriteInProgress {
  /**
   * Ends the write. Resolves once no reader, in any process, can get an entry from before it.
   *
   * @param unknownMs time for which the service may still apply it, in milliseconds, so that it counts as being in progress; 0 if its outcome is known
   */
  end(unknownMs: number): void | Promise<void>;
}

/** Value now, or a promise of it that never rejects. Stores in memory respond immediately. */
type MaybePromise<T> = T | Promise<T>;

/**
 * Store of responses. Its functions never throw and never reject. A store that is slow or unavailable responds after 100 ms at most, as if it were
 * empty.
 *
 * Each owner has a random version per kind of read, which is part of its entries. A write replaces it, so entries from before can't be found any more,
 * and a response that arrives late is stored where nobody looks.
 */
export interface CacheStore extends AsyncDisposable {
  /** Resolves once the first attempt to connect has succeeded or failed, after two seconds at most. */
  connected(): Promise<void>;
  /** Looks up an entry. Writes nothing, so that unknown credentials take no room. */
  find(address: EntryAddress): MaybePromise<Lookup>;
  /**
   * Stores the response of a read that started after a lookup. Nobody finds it if the version was replaced since, or a write was in progress.
   *
   * @param lifetimeMs age at which it is removed, in milliseconds
   */
  put(address: EntryAddress, lookup: Lookup, result: UpstreamResult, lifetimeMs: number): void | Promise<void>;
  /**
   * Replaces the versions of kinds, before a write is sent. Until it has ended, their entries are neither used nor stored. If this process is killed,
   * the write ends by itself.
   *
   * @param maxMs maximum duration of the write, in milliseconds
   */
  beginWrite(owner: Owner, kinds: readonly CachedKind[], maxMs: number): MaybePromise<WriteInProgress>;
  /** Makes the entries of kinds unusable, and the responses of reads in flight too. */
  drop(owner: Owner, kinds: readonly CachedKind[]): void | Promise<void>;
  /** Returns what the store holds, for metrics. */
  stats(): StoreStats;
}

/** Name of all writes with an unknown outcome. They share one, so that their number doesn't matter. */
const UNKNOWN_WRITE = 'unknown';

/** Writes in progress that this process keeps, by the versions that they replace. Each ends by itself at its deadline. */
export class OpenWrites {
  readonly #deadlines = new Map<string, Map<string, number>>();

  /** Notes a write. It replaces an earlier one with the same name. */
  begin(versions: readonly string[], write: string, now: number, maxMs: number): void {
    for (const version of versions) {
      const deadlines = this.#deadlines.get(version) ?? new Map<string, number>();
      this.#deadlines.delete(version); // It moves to the end.
      this.#deadlines.set(version, deadlines.set(write, now + maxMs));
    }
    for (const version of this.#deadlines.keys()) {
      if (this.has(version, now)) {
        break;
      }
    }
  }

  /** Ends a write. One with an unknown outcome stays in progress for a while: see `WriteInProgress.end`. */
  end(versions: readonly string[], write: string, now: number, unknownMs: number): void {
    if (unknownMs > 0) {
      this.begin(versions, UNKNOWN_WRITE, now, unknownMs);
    }
    for (const version of versions) {
      const deadlines = this.#deadlines.get(version);
      if (deadlines?.delete(write) && deadlines.size === 0) {
        this.#deadlines.delete(version);
      }
    }
  }

  /** Whether a write is in progress. Forgets the writes of a version that are all over. */
  has(version: string, now: number): boolean {
    const deadlines = this.#deadlines.get(version);
    const isOpen = deadlines !== undefined && [...deadlines.values()].some((deadline) => deadline > now);
    if (deadlines !== undefined && !isOpen) {
      this.#deadlines.delete(version);
    }
    return isOpen;
  }
}

/** Maximum ages of a response for each use, in milliseconds. */
export interface CacheWindows {
  /** For use without asking the service. */
  freshMs: number;
  /** For use while it is requested again in the background. */
  revalidateMs: number;
  /** For any use: after `revalidateMs`, only if the service fails. */
  lifetimeMs: number;
}

/** Time in which a response is requested again in the background: long enough for the next visit, short enough that a page shows its own time. */
const STALE_WHILE_REVALIDATE_SECONDS = 30;

/** Returns the windows of a read. Modules declare theirs, and those of built-in reads follow from the settings. */
export function windowsOf(settings: CacheSettings, { resource, windows }: CachedRead): CacheWindows {
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = windows ?? {
    freshSeconds: settings.freshSeconds ?? FRESH_SECONDS.get(resource) ?? 0, // Others than built-in resources can't be declared without windows.
    staleWhileRevalidateSeconds: STALE_WHILE_REVALIDATE_SECONDS,
    staleIfErrorSeconds: settings.staleIfErrorSeconds,
  };
  return {
    freshMs: freshSeconds * 1_000,
    revalidateMs: (freshSeconds + staleWhileRevalidateSeconds) * 1_000,
    lifetimeMs: (freshSeconds + Math.max(staleWhileRevalidateSeconds, staleIfErrorSeconds)) * 1_000,
  };
}
