import { LRUCache } from 'lru-cache';
import type { Settings } from '../../settings/settings.ts';
import type { Outcome } from '../call-events.ts';
import { type Endpoint, isUpstreamError, throttled, type UpstreamError, type UpstreamRateLimit } from '../errors.ts';

/** Rate limits that reset within this time, in seconds, don't pause calls. */
const MIN_SECONDS = 3;

/** Maximum duration of a pause, in seconds. */
const MAX_SECONDS = 60;

/** Pauses of the calls of credentials. */
export type UpstreamThrottle = ReturnType<typeof createThrottle>;

/** Pause of one credential's calls. */
interface Pause {
  until: number;
  /** Whether the service's limit resets later than `until`. One call then probes it before others follow. */
  isShortened: boolean;
  /** Call that probes it. */
  probe: object | undefined;
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
) {
  const minSeconds = Math.max(MIN_SECONDS, maxRetryAfterSeconds); // Retries wait for shorter limits.
  const pauses = new LRUCache<string, Pause>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_PAUSE + credential.length,
  });

  /**
   * Called before each attempt of a call.
   *
   * @returns RATE_LIMITED while calls of the credential are paused; undefined if the attempt may be sent
   */
  function refusal(call: object, credential: string, endpoint: Endpoint): UpstreamError | undefined {
    const pause = pauses.size === 0 ? undefined : pauses.get(credential); // Avoids the lookup, because usually no credential is paused.
    if (pause === undefined) {
      return undefined;
    }
    const remainingMs = pause.until - now();
    if (remainingMs > 0 || pause.probe !== undefined) {
      const resetSeconds = Math.max(1, Math.ceil(remainingMs / 1_000));
      return throttled(endpoint, { limit: pause.limit, remaining: 0, resetSeconds });
    }
    if (pause.isShortened) {
      pause.probe = call;
    } else {
      pauses.delete(credential);
    }
    return undefined;
  }

  /** Ends an attempt, which may have probed a pause. */
  function ended(call: object, credential: string, outcome: Outcome): void {
    const pause = pauses.size === 0 ? undefined : pauses.peek(credential);
    if (pause?.probe !== call) {
      return;
    }
    pause.probe = undefined;
    // Without a response the limit is unknown, so the next call probes immediately.
    const hasResponse = !isUpstreamError(outcome) || (outcome.status !== undefined && outcome.code !== 'RATE_LIMITED');
    if (hasResponse && pause.until <= now()) {
      pauses.delete(credential); // No new limit was reported during the probe.
    }
  }

  /** Called for every response that reports a rate limit. */
  function note(credential: string, { limit, remaining, resetSeconds = 0 }: UpstreamRateLimit): void {
    if (remaining > 0 || resetSeconds <= minSeconds) {
      return;
    }
    // guard: test/upstream/upstream-rate-limit.test.ts
    const until = now() + Math.min(resetSeconds, MAX_SECONDS) * 1_000;
    const existing = pauses.get(credential);
    if (existing !== undefined && existing.until >= until) {
      return;
    }
    const isShortened = resetSeconds > MAX_SECONDS;
    pauses.set(credential, Object.assign(existing ?? { probe: undefined }, { until, isShortened, limit }));
  }

  return { refusal, ended, note };
}
