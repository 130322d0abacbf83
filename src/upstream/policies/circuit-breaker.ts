// Stops calls to a service that is down, and probes it until it is back.

import type { CallerGroup, CircuitState, Outcome, ReportCircuitChange } from '../calls.ts';
import { type Endpoint, errorOf, isUpstreamError, type UpstreamError } from '../errors.ts';

/** Calls in the window before it can open: with fewer, one client's requests would look like an outage. As in Hystrix, like the next two numbers. */
const MINIMUM_CALLS = 20;

/** Share of outages that opens it. The rest still succeeds below it, and retries repair a part of these. */
const OUTAGE_SHARE = 0.5;

/** Window in which calls count, in milliseconds: longer than a restart of one of several instances, shorter than a user's patience. */
const WINDOW_MS = 10_000;

/** First and longest pause, in milliseconds. Probes that fail double it. A service that is back is used within the longest one. */
const [PAUSE_MS, MAX_PAUSE_MS] = [2_000, 8_000];

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

const BUCKETS = 10;

/**
 * Creates the circuit breaker, which stops calls to a service that is down and probes it with one call at a time until it recovers. All
 * callers share it, so only outages count (`isOutage` in `failures.ts`). One caller's bad requests, even if they cause a 500, never open it for others. If only calls of one
 * person got no response, or of one credential, only these are paused.
 *
 * @param now monotonic clock, in milliseconds
 * @param onChange called when it opens and when it closes
 * @param minimumCalls calls in the window before it can open
 */
export function createCircuitBreaker(
  now: () => number = () => performance.now(),
  onChange?: ReportCircuitChange,
  minimumCalls = MINIMUM_CALLS,
) {
  const recent = createWindow(now);
  let state: CircuitState = 'closed';
  /** Callers whose calls are paused; undefined for all. */
  let paused: CallerGroup | undefined;
  let openedAt = 0;
  let openFor = PAUSE_MS;
  let openUntil = 0;
  let probe: object | undefined;

  function pauseFor(duration: number): void {
    state = 'open';
    openFor = Math.min(duration, MAX_PAUSE_MS);
    openUntil = now() + openFor;
  }

  function open(failure: UpstreamError, { failedSince, culprit }: Totals): void {
    if (state === 'closed') {
      openedAt = now();
    }
    // If it is already open for a group, others have reached the limit, because the window was cleared then.
    const group = state === 'closed' ? culprit : join(paused, culprit);
    paused = group === EVERYBODY ? undefined : group;
    pauseFor(PAUSE_MS);
    recent.clear();
    onChange?.({ kind: 'opened', failure, failingMs: now() - failedSince, paused });
  }

  function close(): void {
    state = 'closed';
    paused = undefined;
    recent.clear();
    onChange?.({ kind: 'closed', openMs: now() - openedAt });
  }

  function endProbe(outcome: Outcome): void {
    probe = undefined;
    if (!isUpstreamError(outcome) || (outcome.status !== undefined && !outcome.isOutage)) {
      close(); // It responded, even if with an error.
    } else if (outcome.isOutage) {
      pauseFor(openFor * 2);
    } else {
      state = 'open'; // No response, so the next call probes immediately.
    }
  }

  /** Whether calls of a caller are permitted without a probe. */
  const isClosedFor = (caller: CallerGroup): boolean =>
    state === 'closed' || (paused !== undefined && !isIn(paused, caller));

  return {
    /**
     * Called before each attempt of a call.
     *
     * @returns UPSTREAM_UNAVAILABLE while the circuit is open; undefined if the attempt may be sent
     */
    refusal(call: object, request: BreakerRequest): UpstreamError | undefined {
      if (isClosedFor(request)) {
        return undefined;
      }
      if (state === 'probing' || now() < openUntil) {
        return errorOf('circuitOpen', request.endpoint, {
          retryAfterSeconds: Math.max(1, Math.ceil((openUntil - now()) / 1_000)),
        });
      }
      state = 'probing';
      probe = call;
      return undefined;
    },
    /**
     * Counts an attempt that has ended.
     *
     * @param wasSent whether it was sent; otherwise, only a probe is ended
     */
    ended(call: object, caller: CallerGroup, outcome: Outcome, wasSent: boolean): void {
      if (probe === call) {
        endProbe(outcome);
        return;
      }
      // Late failures of calls that were sent before it opened must not open it again.
      if (!wasSent || !isClosedFor(caller)) {
        return;
      }
      const outage = isUpstreamError(outcome) && outcome.isOutage ? outcome : undefined;
      recent.count(outage && culpritOf(outage, caller));
      if (outage !== undefined) {
        const totals = recent.totals();
        if (totals.calls >= minimumCalls && totals.failures >= OUTAGE_SHARE * totals.calls) {
          open(outage, totals);
        }
      }
    },
    /** Returns the current state. Without calls, nothing ends the pause: it is over once the next call would be a probe. */
    state: (): CircuitState => (state === 'open' && now() >= openUntil ? 'probing' : state),
  };
}

/** Stands for all credentials, as the culprit of an outage. */
const EVERYBODY = Symbol('everybody');

type BreakerRequest = CallerGroup & { readonly endpoint: Endpoint };

/** Only callers with failures, who may be to blame, because their requests take long or crash a handler; otherwise `EVERYBODY`. */
type Culprit = CallerGroup | typeof EVERYBODY;

function culpritOf({ code, status = 0, retry }: UpstreamError, { credential, callerId }: CallerGroup): Culprit {
  const isCutOff = status < 400 && retry === 'repeatable'; // Other failures without an error status didn't reach the service.
  return code === 'UPSTREAM_TIMEOUT' || status === 408 || status === 524 || isCutOff
    ? { credential, callerId }
    : EVERYBODY;
}

interface Totals {
  calls: number;
  failures: number;
  culprit: Culprit | undefined;
  /** Time of the first failure. */
  failedSince: number;
}

interface Bucket extends Totals {
  slot: number;
}

/** Creates a counter for the calls of the window, in ten buckets. */
function createWindow(now: () => number) {
  const buckets: Bucket[] = [];
  const slotOf = (time: number) => Math.floor(time / (WINDOW_MS / BUCKETS));

  return {
    /** @param culprit undefined if the call succeeded */
    count(culprit: Culprit | undefined): void {
      const time = now();
      const slot = slotOf(time);
      let bucket = buckets.at(-1);
      if (bucket?.slot !== slot) {
        bucket = { slot, calls: 0, failures: 0, culprit: undefined, failedSince: Number.POSITIVE_INFINITY };
        buckets.push(bucket);
        if (buckets.length > BUCKETS) {
          buckets.shift();
        }
      }
      bucket.calls += 1;
      if (culprit !== undefined) {
        bucket.failures += 1;
        bucket.culprit = join(bucket.culprit, culprit);
        bucket.failedSince = Math.min(bucket.failedSince, time);
      }
    },
    totals(): Totals {
      const oldest = slotOf(now()) - BUCKETS;
      const live = buckets.filter(({ slot }) => slot > oldest);
      return {
        calls: live.reduce((sum, { calls }) => sum + calls, 0),
        failures: live.reduce((sum, { failures }) => sum + failures, 0),
        culprit: live.reduce<Culprit | undefined>((all, { culprit }) => join(all, culprit), undefined),
        failedSince: Math.min(...live.map(({ failedSince }) => failedSince)),
      };
    },
    clear(): void {
      buckets.length = 0;
    },
  };
}

/** Returns the smallest group of callers that has both. */
function join(one: Culprit | undefined, other: Culprit | undefined): Culprit | undefined {
  if (one === undefined || other === undefined || one === EVERYBODY || other === EVERYBODY) {
    return one === undefined ? other : other === undefined ? one : EVERYBODY;
  }
  const { credential } = one;
  return isIn(one, other) ? one : credential === other.credential ? { credential, callerId: undefined } : EVERYBODY;
}

const isIn = (group: CallerGroup, { credential, callerId }: CallerGroup): boolean =>
  group.credential === credential && (group.callerId === undefined || group.callerId === callerId);
