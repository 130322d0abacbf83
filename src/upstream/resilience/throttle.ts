import { LRUCache } from 'lru-cache';
import type { Settings } from '../../settings/settings.ts';
import { type Endpoint, isUpstreamError } from '../errors/errors.ts';
import { throttled } from '../errors/failures.ts';
import type { UpstreamRateLimit } from '../errors/rate-limit.ts';

/** Rate limits that reset within this time, in seconds, don't pause calls. */
const MIN_SECONDS = 3;

/** Maximum duration of a pause, in seconds. */
const MAX_SECONDS = 60;

/** Runs an attempt, or fails immediately with RATE_LIMITED while calls of its credential are paused. */
export interface UpstreamThrottle {
  <T>(credential: string, endpoint: Endpoint, attempt: () => Promise<T>): Promise<T>;
  /** Called for every response that reports a rate limit. */
  note(credential: string, rateLimit: UpstreamRateLimit): void;
}

interface Pause {
  until: number;
  /** Whether the service's limit resets later than `until`. One call then probes it before others follow. */
  isShortened: boolean;
  isProbing: boolean;
  limit: number | undefined;
}

/** Maximum size of all pauses in bytes. Clients can invent API keys of 2 KB. An evicted pause costs one rejected request. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Size of a pause without its key, in bytes. */
const BYTES_PER_PAUSE = 256;

/**
 * Creates the policy that pauses the calls of a credential after the service reported an exhausted rate limit, until it resets. Rejected
 * calls would otherwise count against the credential. Responses to calls that were sent before the pause don't end it.
 */
export function createThrottle(
  { maxRetryAfterSeconds }: Pick<Settings, 'maxRetryAfterSeconds'>,
  now: () => number = () => performance.now(),
): UpstreamThrottle {
  const minSeconds = Math.max(MIN_SECONDS, maxRetryAfterSeconds); // Retries wait for shorter limits.
  const pauses = new LRUCache<string, Pause>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_PAUSE + credential.length,
  });

  async function probe<T>(credential: string, pause: Pause, attempt: () => Promise<T>): Promise<T> {
    const endPause = () => {
      if (pause.until <= now()) {
        pauses.delete(credential); // No new limit was reported during the probe.
      }
    };
    pause.isProbing = true;
    try {
      const result = await attempt();
      endPause();
      return result;
    } catch (error) {
      if (isUpstreamError(error) && error.status !== undefined && error.code !== 'RATE_LIMITED') {
        endPause();
      }
      throw error; // Without a response the limit is unknown, so the next call probes immediately.
    } finally {
      pause.isProbing = false;
    }
  }

  async function runPaused<T>(
    credential: string,
    pause: Pause,
    endpoint: Endpoint,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const remainingMs = pause.until - now();
    if (remainingMs > 0 || pause.isProbing) {
      const resetSeconds = Math.max(1, Math.ceil(remainingMs / 1_000));
      throw throttled(endpoint, { limit: pause.limit, remaining: 0, resetSeconds });
    }
    if (pause.isShortened) {
      return probe(credential, pause, attempt);
    }
    pauses.delete(credential);
    return attempt();
  }

  function run<T>(credential: string, endpoint: Endpoint, attempt: () => Promise<T>): Promise<T> {
    const pause = pauses.size === 0 ? undefined : pauses.get(credential); // Avoids the lookup, because usually no credential is paused.
    return pause === undefined ? attempt() : runPaused(credential, pause, endpoint, attempt);
  }

  function note(credential: string, { limit, remaining, resetSeconds = 0 }: UpstreamRateLimit): void {
    if (remaining > 0 || resetSeconds <= minSeconds) {
      return;
    }
    const until = now() + Math.min(resetSeconds, MAX_SECONDS) * 1_000;
    const existing = pauses.get(credential);
    if (existing !== undefined && existing.until >= until) {
      return;
    }
    const isShortened = resetSeconds > MAX_SECONDS;
    pauses.set(credential, Object.assign(existing ?? { isProbing: false }, { until, isShortened, limit }));
  }

  return Object.assign(run, { note });
}
