// Pauses calls with a credential whose rate limit at the service is exhausted.

import { LRUCache } from 'lru-cache';
import type { Outcome } from '../calls.ts';
import { type Endpoint, errorOf, isUpstreamError, type RateLimitState, type UpstreamError } from '../errors.ts';

/** Rate limits that reset within this time, in seconds, don't pause calls: retries wait for most of them. */
const MIN_SECONDS = 3;

/** Maximum duration of a pause, in seconds. */
const MAX_SECONDS = 60;

export type UpstreamThrottle = ReturnType<typeof createThrottle>;

interface Pause {
  until: number;
  /** Whether the service's limit resets later than `until`. One call then probes it before others follow. */
  isShortened: boolean;
  isProbed: boolean;
  limit: number | undefined;
}

/** Maximum size of all pauses in bytes. Clients can invent API keys of 2 KB. An evicted pause costs one rejected request. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Size of a pause without its key, in bytes. */
const BYTES_PER_PAUSE = 256;

/**
 * Creates the policy that pauses the calls of a credential after the service reported an exhausted rate limit, until it resets. Rejected
 * calls would otherwise count against the credential. Responses to calls that were sent before the pause don't end it. A limit of a category pauses
 * only endpoints whose last response named it.
 */
export function createThrottle(now: () => number = () => performance.now()) {
  const pauses = new LRUCache<string, Pause>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (_, key) => BYTES_PER_PAUSE + key.length,
  });
  const probed = new Map<object, Pause>();
  /** Category that the last response of an endpoint named. */
  const categories = new WeakMap<Endpoint, string | undefined>();

  /** Returns the key of a pause. Credentials have no line breaks. */
  const keyOf = (credential: string, category = '') => `${credential}\n${category}`;

  /**
   * Called before each attempt of a call.
   *
   * @returns RATE_LIMITED while calls of the credential to this endpoint are paused; undefined if the attempt may be sent
   */
  function refusal(call: object, credential: string, endpoint: Endpoint): UpstreamError | undefined {
    if (pauses.size === 0) {
      return undefined; // Avoids the lookups, because usually no credential is paused.
    }
    for (const key of new Set([keyOf(credential), keyOf(credential, categories.get(endpoint))])) {
      const pause = pauses.get(key);
      const remainingMs = (pause?.until ?? 0) - now();
      if (pause !== undefined && (remainingMs > 0 || pause.isProbed)) {
        const resetSeconds = Math.max(1, Math.ceil(remainingMs / 1_000));
        return errorOf('throttled', endpoint, {
          retryAfterSeconds: resetSeconds,
          rateLimit: { limit: pause.limit, remaining: 0, resetSeconds },
        });
      }
      if (!pause?.isShortened) {
        pauses.delete(key);
      } else if (!probed.has(call)) {
        probed.set(call, pause); // One per call. Another pause is probed by a later one.
        pause.isProbed = true;
      }
    }
    return undefined;
  }

  function ended(call: object, outcome: Outcome): void {
    const pause = probed.get(call);
    if (pause === undefined) {
      return;
    }
    probed.delete(call);
    pause.isProbed = false;
    // Without a response the limit is unknown, so the next call probes immediately.
    const hasResponse = !isUpstreamError(outcome) || (outcome.status !== undefined && outcome.code !== 'RATE_LIMITED');
    if (hasResponse && pause.until <= now()) {
      pause.isShortened = false; // No new limit was reported during the probe, so the next call deletes it.
    }
  }

  /** Called for every response that reports a rate limit. */
  function note(credential: string, endpoint: Endpoint, rateLimit: RateLimitState): void {
    const { limit, remaining, resetSeconds = 0, category } = rateLimit;
    categories.set(endpoint, category);
    if (remaining > 0 || resetSeconds <= MIN_SECONDS) {
      return;
    }
    const until = now() + Math.min(resetSeconds, MAX_SECONDS) * 1_000;
    const key = keyOf(credential, category);
    const existing = pauses.get(key);
    if (existing !== undefined && existing.until >= until) {
      return;
    }
    pauses.set(key, { until, isShortened: resetSeconds > MAX_SECONDS, isProbed: false, limit });
  }

  return { refusal, ended, note };
}
