import type { Settings } from '../../settings/settings.ts';
import { type Endpoint, isUpstreamError } from '../errors/errors.ts';
import { circuitOpen } from '../errors/failures.ts';
import type { CircuitState } from '../transport/observer.ts';

/** Settings of the circuit breaker. */
export type CircuitBreakerSettings = Pick<
  Settings,
  'breakerPercent' | 'breakerMinimumCalls' | 'breakerWindowMs' | 'breakerOpenMs' | 'breakerMaxOpenMs'
>;

/** Attempt that the circuit breaker permitted. */
export type PermittedAttempt = 'ordinary' | 'probe';

/** Circuit breaker of one service. */
export interface CircuitBreaker {
  /**
   * Called before each attempt. What it returns is passed to `leave` when the attempt has ended.
   *
   * @throws {UpstreamError} UPSTREAM_UNAVAILABLE while the circuit is open
   */
  enter(endpoint: Endpoint): PermittedAttempt;
  /**
   * Counts an attempt that has ended. Does nothing if it was not permitted.
   *
   * @param failure undefined if the attempt succeeded
   */
  leave(attempt: PermittedAttempt | undefined, failure: unknown): void;
  /** Returns the current state. */
  state(): CircuitState;
}

const BUCKETS = 10;

/**
 * Creates the circuit breaker, which stops calls to a service that is down and probes it with one call at a time until it recovers. All
 * callers share it, so only outages count (`isOutage`: no connection, 502, 503, 504). One caller's bad requests, even if they cause a
 * 500, never open it for others.
 */
export function createCircuitBreaker(
  { breakerPercent, breakerMinimumCalls, breakerWindowMs, breakerOpenMs, breakerMaxOpenMs }: CircuitBreakerSettings,
  now: () => number = () => performance.now(),
): CircuitBreaker {
  const recent = createWindow(breakerWindowMs, now);
  let state: CircuitState = 'closed';
  let openFor = breakerOpenMs;
  let openUntil = 0;

  function open(duration: number): void {
    state = 'open';
    openFor = Math.min(duration, breakerMaxOpenMs);
    openUntil = now() + openFor;
  }

  function close(): void {
    state = 'closed';
    recent.clear();
  }

  function endProbe(failure: unknown): void {
    if (isUpstreamError(failure) && failure.isOutage) {
      open(openFor * 2);
    } else if (failure === undefined || (isUpstreamError(failure) && failure.status !== undefined)) {
      close(); // It responded, even if with an error.
    } else {
      state = 'open'; // No response, so the next call probes immediately.
    }
  }

  function count(failure: unknown): void {
    recent.count(isUpstreamError(failure) && failure.isOutage);
    // Late failures of calls that were sent before it opened must not open it again.
    if (failure !== undefined && state === 'closed') {
      const { calls, failures } = recent.totals();
      if (calls >= breakerMinimumCalls && failures * 100 >= breakerPercent * calls) {
        open(breakerOpenMs);
      }
    }
  }

  return {
    enter(endpoint) {
      if (state === 'closed') {
        return 'ordinary';
      }
      if (state === 'probing' || now() < openUntil) {
        throw circuitOpen(endpoint, Math.max(1, Math.ceil((openUntil - now()) / 1_000)));
      }
      state = 'probing';
      return 'probe';
    },
    leave(attempt, failure) {
      if (attempt === 'probe') {
        endProbe(failure);
      } else if (attempt === 'ordinary') {
        count(failure);
      }
    },
    state: () => state,
  };
}

interface Bucket {
  slot: number;
  calls: number;
  failures: number;
}

/** Creates a counter for the calls of the last `windowMs` milliseconds, in ten buckets. */
function createWindow(windowMs: number, now: () => number) {
  const buckets: Bucket[] = [];
  const slotOf = (time: number) => Math.floor(time / (windowMs / BUCKETS));

  return {
    count(failed: boolean): void {
      const slot = slotOf(now());
      let bucket = buckets.at(-1);
      if (bucket?.slot !== slot) {
        bucket = { slot, calls: 0, failures: 0 };
        buckets.push(bucket);
        if (buckets.length > BUCKETS) {
          buckets.shift();
        }
      }
      bucket.calls += 1;
      bucket.failures += Number(failed);
    },
    totals(): { calls: number; failures: number } {
      const oldest = slotOf(now()) - BUCKETS;
      const live = buckets.filter(({ slot }) => slot > oldest);
      return {
        calls: live.reduce((sum, bucket) => sum + bucket.calls, 0),
        failures: live.reduce((sum, bucket) => sum + bucket.failures, 0),
      };
    },
    clear(): void {
      buckets.length = 0;
    },
  };
}
