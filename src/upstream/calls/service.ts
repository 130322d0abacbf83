// Joins reads to identical ones in flight, and starts all other calls of one upstream.

import { createPerCredential, type PerCredential } from '../../lib/per-credential.ts';
import {
  type ReportCircuitChange,
  type ReportDeviation,
  readKeyOf,
  type ServiceState,
  type UpstreamRequest,
} from '../calls.ts';
import { createDriftCheck } from '../contract/drift.ts';
import { endedEarly } from '../errors.ts';
import { createCircuitBreaker } from '../policies/circuit-breaker.ts';
import { Retry, type RetrySettings } from '../policies/retry.ts';
import { createThrottle } from '../policies/throttle.ts';
import type { SocketPool } from '../transport/socket-pool.ts';
import { afterwards, Call, type CallOptions, type CallPolicies, type CallSettings, type Reader } from './call.ts';
import { Lane } from './lane.ts';

export interface CallTarget {
  read(request: UpstreamRequest, reader: Reader): void;
  write(request: UpstreamRequest, reader: Reader): void;
}

export interface ServiceDeps {
  pool: SocketPool;
  /** Called for deviations of responses from the contract. @default none: responses are not compared with it */
  reportDeviation?: ReportDeviation | undefined;
  /** Called when the circuit breaker opens and when it closes. @default not called */
  reportCircuitChange?: ReportCircuitChange | undefined;
  /** Monotonic clock of circuit breaker and throttle, in milliseconds. @default performance.now */
  monotonicNow?: (() => number) | undefined;
  /** Source of random numbers from 0 to 1, for the jitter of retries. @default Math.random */
  random?: (() => number) | undefined;
  /** Calls before the circuit breaker can open. For tests, and for an import, which waits by itself. @default 20 */
  breakerMinimumCalls?: number | undefined;
}

/** One upstream: sockets, policies, and a lane for each credential. All calls share it. */
export class Service implements CallTarget {
  readonly #policies: CallPolicies;
  readonly #lanes: PerCredential<Lane<Call>>;

  constructor(
    settings: CallSettings & RetrySettings,
    { pool, reportDeviation, reportCircuitChange, monotonicNow, random, breakerMinimumCalls }: ServiceDeps,
  ) {
    const now = monotonicNow ?? (() => performance.now());
    this.#lanes = createPerCredential(
      () => new Lane<Call>(settings.maxConcurrentCallsPerKey, now),
      ({ acceptedUntil }) => acceptedUntil > 0, // Otherwise, invented keys could make it forget the real ones, which would share their fate.
    );
    this.#policies = {
      settings,
      waiting: { calls: 0 },
      pool,
      throttle: createThrottle(monotonicNow),
      breaker: createCircuitBreaker(monotonicNow, reportCircuitChange, breakerMinimumCalls),
      retry: new Retry(settings, random),
      checkDrift: reportDeviation && createDriftCheck(reportDeviation),
    };
  }

  /** Makes the call of a read, or joins an identical one in flight. */
  read(request: UpstreamRequest, reader: Reader, options: CallOptions = { key: readKeyOf(request) }): void {
    const lane = this.#lanes.enter(request.credential);
    const shared = options.key === undefined ? undefined : lane.find(options.key);
    if (shared !== undefined && reader.deadline.endReason() === undefined) {
      reader.wait(shared, request, true);
      lane.hasten(shared, request.callerId); // Afterwards, because it can be sent at once, or end if nobody waits for it any more.
      this.#lanes.leave(request.credential); // The shared call uses it too.
    } else {
      this.#call(lane, request, reader, options);
    }
  }

  /** Sends a write. Reads that start from now on don't join earlier ones, nor do those that start after its end. */
  write(request: UpstreamRequest, reader: Reader, options: CallOptions = {}): void {
    const lane = this.#lanes.enter(request.credential);
    lane.separateReads();
    this.#call(lane, request, reader, options);
  }

  isReading(credential: string, key: string): boolean {
    return this.#lanes.find(credential)?.find(key) !== undefined;
  }

  /** Whether the service has accepted a credential within the last minute. One that isn't in use may be forgotten, because their number is bounded. */
  hasAccepted(credential: string): boolean {
    return performance.now() < (this.#lanes.find(credential)?.acceptedUntil ?? 0);
  }

  /** Whether the last response to a credential shows that the service knows it. One that isn't in use may be forgotten too. */
  knows(credential: string): boolean {
    return this.#lanes.find(credential)?.isKnown === true;
  }

  state(): ServiceState {
    const { breaker, waiting, pool } = this.#policies;
    return { circuit: breaker.state(), waiting: waiting.calls, sockets: pool.stats() };
  }

  /** Makes a call, which uses the lane until nothing can join it any more. */
  #call(lane: Lane<Call>, request: UpstreamRequest, reader: Reader, options: CallOptions): void {
    const leave = () => void this.#lanes.leave(request.credential);
    const reason = reader.deadline.endReason();
    if (reason !== undefined) {
      leave();
      const outcome = endedEarly(request.endpoint, { sent: false }, reason);
      afterwards(options.confirm?.(outcome), () => reader.end(outcome));
      return;
    }
    const call = new Call(this.#policies, lane, request, reader, options, leave);
    if (options.key !== undefined) {
      lane.share(call);
    }
    reader.wait(call, request, false); // Before it starts, because it may be refused at once.
    call.start();
  }
}
