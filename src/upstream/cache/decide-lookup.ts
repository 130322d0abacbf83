// Decides what a lookup in Redis has found: the state of its kind, and whether the entry may be used.

import type { Lookup } from './store.ts';

/** State in Redis that a lookup has found. Times are on its clock, in milliseconds. */
export interface HeldState {
  now: number;
  /** Undefined if nothing of the kind was stored yet, or it was evicted. */
  version: string | undefined;
  /** Undefined if nobody has written yet, or it was evicted. */
  epoch: string | undefined;
  /** Whether a write is in progress, or one with an unknown outcome may still be applied. */
  isWriting: boolean;
  /** Text before the sealed entry: the time of the lookup before its read, and its version. Empty if there is no entry. */
  header: string;
}

/** State that only this process knows. */
export interface OwnState {
  /** Server and the history of its data. After a restart or a fail-over, it is another one, in which writes may be missing. */
  history: string;
  /** Whether this process has sent a write of the kind that Redis doesn't know of yet. */
  hasMissedWrite: boolean;
  /** Time before which this process may have missed other writes of the kind, and forgotten which. */
  usableFrom: number;
}

/** Returns a version as entries have it in their headers. For a kind without one, it has the epoch, which every write of anybody replaces. */
export const versionIn = (history: string, version: string | undefined, epoch?: string): string =>
  `${history} ${version ?? `none ${epoch}`}`;

/** Returns what a lookup has found, with the time of the entry if it may be used. */
export function decideLookup(
  held: HeldState | undefined,
  { history, hasMissedWrite, usableFrom }: OwnState,
): Omit<Lookup, 'entry'> & { entryAt?: number | undefined } {
  if (held === undefined || hasMissedWrite) {
    return { state: 'unavailable', version: undefined, at: 0 };
  }
  const { now, epoch, isWriting, header } = held;
  const version = versionIn(history, held.version, epoch);
  if (isWriting) {
    return { state: 'writing', version: `${version} writing`, at: now };
  }
  if (held.version === undefined) {
    return { state: 'new', version, at: now };
  }
  const entryAt = Number.parseInt(header, 10);
  const isUsable = header === `${entryAt} ${version}` && entryAt >= usableFrom && entryAt <= now;
  return { state: 'current', version, at: now, entryAt: isUsable ? entryAt : undefined };
}
