import type { CacheSettings } from '../../settings/cache.ts';
import { type CachedRead, type CacheWindowSeconds, type DeclaredEndpoint, kindOf } from '../endpoint.ts';
import type { CachedKind } from './store.ts';

/** Rules of the cache that follow from endpoints and settings. */

/** Maximum ages of a response for each use, in milliseconds. */
export interface CacheWindows {
  /** For use without asking the service. */
  freshMs: number;
  /** For use while it is requested again in the background. */
  revalidateMs: number;
  /** For use if the service fails. */
  errorMs: number;
  /** For any use. */
  lifetimeMs: number;
}

/** Returns the windows of a read; undefined if it isn't cached. */
export function windowsOf(settings: CacheSettings, read: CachedRead): CacheWindows | undefined {
  const windows = read.windows ?? builtInWindows(settings, read.resource);
  if (windows === undefined) {
    return undefined;
  }
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = windows;
  const revalidateMs = (freshSeconds + staleWhileRevalidateSeconds) * 1_000;
  const errorMs = (freshSeconds + staleIfErrorSeconds) * 1_000;
  return { freshMs: freshSeconds * 1_000, revalidateMs, errorMs, lifetimeMs: Math.max(revalidateMs, errorMs) };
}

/** Default of `freshSeconds` for each built-in kind of read: half a minute is a user's visit. Statistics change with every notification, but are read as trends. */
const FRESH_SECONDS = new Map([
  ['workflows', 30],
  ['notificationGroups', 30],
  ['statistics', 60],
]);

/** Time in which a response is requested again in the background: long enough for the next visit, short enough that a page shows its own time. */
const STALE_WHILE_REVALIDATE_SECONDS = 30;

/** Returns the windows of a built-in read. Modules declare theirs. */
function builtInWindows(settings: CacheSettings, resource: string): CacheWindowSeconds | undefined {
  const byDefault = FRESH_SECONDS.get(resource);
  if (byDefault === undefined) {
    return undefined;
  }
  const { freshSeconds = byDefault, staleIfErrorSeconds } = settings;
  return { freshSeconds, staleWhileRevalidateSeconds: STALE_WHILE_REVALIDATE_SECONDS, staleIfErrorSeconds };
}

/**
 * Returns the kinds of reads that each endpoint empties. Of a write, these are those that it declares, or else those of all reads whose paths are at, above or below its own. A
 * declaration is about the built-in reads and those of its module. Its author may not know the others, so they count in any case.
 */
export function findEmptied(endpoints: readonly DeclaredEndpoint[]): Map<DeclaredEndpoint, readonly CachedKind[]> {
  const reads = endpoints.flatMap(({ route, cached, module }) =>
    cached === undefined ? [] : [{ route, module, kind: kindOf(cached) }],
  );
  return new Map(
    endpoints.map((endpoint) => {
      const { empties, method, module, route } = endpoint;
      const related = method === 'GET' ? [] : reads.filter((read) => isSameResource(route, read.route));
      const kindsOf = (isKnown: boolean) =>
        related.flatMap((read) => ([undefined, module].includes(read.module) === isKnown ? read.kind : []));
      return [endpoint, [...new Set([...(empties ?? kindsOf(true)), ...kindsOf(false)])]];
    }),
  );
}

/**
 * Whether one path is at or below the other. A parameter can be any segment. `things:search`, `things;v=1` and, at the end, `things.json` are forms of
 * `things`, and `things,parts` are both.
 */
function isSameResource(one: string, other: string): boolean {
  const [shorter = [], longer = []] = [one, other]
    .map((route) => route.replace(/\.[a-z]\w*$/i, '').split('/'))
    .map((segments) => segments.map((segment) => segment.split(',').map((name) => name.replace(/[:;].*/, ''))))
    .sort((a, b) => a.length - b.length);
  return shorter.every((names, i) =>
    names.some((name) => longer[i]?.some((each) => each === name || `${each}${name}`.includes('{'))),
  );
}
