import type { Settings } from '../../settings/settings.ts';
import { type Endpoint, isUpstreamError } from '../errors/errors.ts';
import { circuitOpen } from '../errors/failures.ts';
import type { CircuitState } from '../transport/observer.ts';

/** Settings of the circuit breaker. */
export type CircuitBreakerSettings = Pick<
  Settings,
  'breakerPercent' | 'breakerMinimumCalls' | 'breakerWindowMs' | 'breakerOpenMs' | 'breakerMaxOpenMs'
>;

/** Runs an attempt, or fails immediately with UPSTREAM_UNAVAILABLE while the circuit is open. */
export interface CircuitBreaker {
  <T>(endpoint: Endpoint, attempt: () => Promise<T>): Promise<T>;
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

  async function probe<T>(attempt: () => Promise<T>): Promise<T> {
    state = 'probing';
    try {
      const result = await attempt();
      close();
      return result;
    } catch (error) {
      if (isUpstreamError(error) && error.isOutage) {
        open(openFor * 2);
      } else if (isUpstreamError(error) && error.status !== undefined) {
        close(); // It responded, even if with an error.
      } else {
        state = 'open'; // No response, so the next call probes immediately.
      }
      throw error;
    }
  }

  async function run<T>(endpoint: Endpoint, attempt: () => Promise<T>): Promise<T> {
    if (state === 'open' && now() >= openUntil) {
      return probe(attempt);
    }
    if (state !== 'closed') {
      throw circuitOpen(endpoint, Math.max(1, Math.ceil((openUntil - now()) / 1_000)));
    }
    try {
      const result = await attempt();
      recent.count(false);
      return result;
    } catch (error) {
      recent.count(isUpstreamError(error) && error.isOutage);
      const { calls, failures } = recent.totals();
      // Late failures of calls that were sent before it opened must not open it again.
      if (state === 'closed' && calls >= breakerMinimumCalls && failures * 100 >= breakerPercent * calls) {
        open(breakerOpenMs);
      }
      throw error;
    }
  }

  return Object.assign(run, { state: () => state });
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
