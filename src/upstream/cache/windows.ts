import type { CacheSettings } from '../../settings/cache.ts';
import type { CachedRead, CacheWindowSeconds } from '../endpoint.ts';

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
  const windows = read.windows ?? settingOf(settings, read.resource);
  if (windows === undefined) {
    return undefined;
  }
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = windows;
  // guard: test/upstream/cache/loads.test.ts
  const atMost = (seconds: number) => Math.min(seconds, settings.maxAgeSeconds ?? seconds) * 1_000;
  const revalidateMs = atMost(freshSeconds + staleWhileRevalidateSeconds);
  const errorMs = atMost(freshSeconds + staleIfErrorSeconds);
  return { freshMs: atMost(freshSeconds), revalidateMs, errorMs, lifetimeMs: Math.max(revalidateMs, errorMs) };
}

/** Returns the setting for a resource. Those of modules have none. */
function settingOf(settings: CacheSettings, resource: string): CacheWindowSeconds | undefined {
  const { workflows, notificationGroups, statistics } = settings;
  const setting = new Map(Object.entries({ workflows, notificationGroups, statistics })).get(resource);
  return setting === 'off' ? undefined : setting;
}
