import type { CachedResource, CacheSettings } from '../../settings/cache.ts';

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

/** Returns the windows of a kind of read; undefined if it isn't cached. */
export function windowsOf(settings: CacheSettings, resource: CachedResource): CacheWindows | undefined {
  const windows = settings[resource];
  if (windows === 'off') {
    return undefined;
  }
  const { freshSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = windows;
  // guard: test/upstream/cache/loads.test.ts
  const atMost = (seconds: number) => Math.min(seconds, settings.maxAgeSeconds ?? seconds) * 1_000;
  const revalidateMs = atMost(freshSeconds + staleWhileRevalidateSeconds);
  const errorMs = atMost(freshSeconds + staleIfErrorSeconds);
  return { freshMs: atMost(freshSeconds), revalidateMs, errorMs, lifetimeMs: Math.max(revalidateMs, errorMs) };
}
