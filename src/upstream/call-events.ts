// Defines the events of upstream calls, from which log, traces and metrics are written.

import type { UpstreamError } from './errors.ts';
import type { TraceHeaders, UpstreamRequest, UpstreamResult } from './request.ts';

export type Outcome = UpstreamResult | UpstreamError;

/**
 * Answer to a read that can be cached. Stored responses: `fresh`, `revalidating` (requested again in the background), `stale` (the service failed).
 * Requests: `miss` (nothing stored, or it is too old), `bypass` (the client wants current data), `unavailable` (the store doesn't respond).
 */
export type CachedReadResult = 'fresh' | 'revalidating' | 'stale' | 'miss' | 'bypass' | 'unavailable';

/** Reason for no longer using stored responses: a write, one that may have been applied, or a key that the service rejected. */
export type InvalidationReason = 'write' | 'unknown write' | 'rejected key';

/** Stored response that answers a read. */
export interface CacheHit {
  resource: string;
  answer: 'fresh' | 'revalidating' | 'stale';
  ageMs: number;
  result: UpstreamResult;
}

/**
 * Receiver of what happens to the calls of one operation. Cost, log lines, spans, metrics and the audit log are written from it, in `telemetry/`, so that
 * policies only decide. Its functions never throw.
 *
 * A call that several operations share reports its attempts to the operation that made it, and its start and end to each of them, with their own
 * `request`.
 */
export interface CallEvents {
  /** The operation waits for a call: one that it makes, or, if it is shared, an identical one in flight. */
  started(request: UpstreamRequest, isShared: boolean): void;
  /** The call waits for other calls of its credential. */
  queued(request: UpstreamRequest): void;
  dequeued(request: UpstreamRequest, waitedMs: number): void;
  /** Returns why a write must not be sent: it can't be recorded. Called before each attempt. */
  refusal(request: UpstreamRequest): UpstreamError | undefined;
  /**
   * An attempt begins, and is sent once a socket is free.
   *
   * @param resends number of earlier attempts
   * @param upstream address of the service
   * @returns headers that continue the operation's trace; undefined if there are none
   */
  attemptBegan(request: UpstreamRequest, resends: number, upstreamUrl: URL): TraceHeaders | undefined;
  /**
   * An attempt has got a socket, and is sent.
   *
   * @param waitedMs time for which no socket was free; undefined if one was
   */
  sent(request: UpstreamRequest, resends: number, waitedMs: number | undefined): void;
  /** @param milliseconds time since it was sent; undefined if it never was */
  attemptEnded(request: UpstreamRequest, outcome: Outcome, milliseconds: number | undefined): void;
  /** The call pauses before it is sent again. */
  retryDelayed(request: UpstreamRequest, delayMs: number): void;
  /** The operation no longer waits for the call. */
  ended(request: UpstreamRequest, outcome: Outcome, isShared: boolean): void;
  /** A stored response answers a read, so that there is no call. If the read waited for a refresh first, that call is reported too. */
  answeredFromCache(request: UpstreamRequest, hit: CacheHit, waitedForRefresh: boolean): void;
  /** No stored response answers a read that can be cached. */
  cacheMissed(resource: string, reason: 'miss' | 'bypass' | 'unavailable'): void;
  /** Stored responses are no longer used. */
  invalidated(reason: InvalidationReason): void;
  /** Returns the receiver of a call that goes on without the operation, and costs it nothing. */
  inBackground(): CallEvents;
}

export interface SocketStats {
  /** Connections to the service. */
  open: number;
  /** Requests that could be sent at once: idle connections, and those that may still be opened. */
  free: number;
  /** Requests that wait for a connection. */
  waiting: number;
}

/** State of the circuit breaker: `probing` means that one call is sent, or may be sent, to see whether the service is back. */
export type CircuitState = 'closed' | 'probing' | 'open';

export interface ServiceState {
  circuit: CircuitState;
  /** Calls that wait for others of their credential. */
  waiting: number;
  sockets: SocketStats;
}
