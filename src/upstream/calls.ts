// Defines calls for those who make them and those who watch them: caller, client, request, result and events.

import type { Deadline, Signal } from '../lib/signal.ts';
import type { CallArgs, DeclaredEndpoint, ReadEndpoint, WriteEndpoint, WriteOptions } from './endpoint.ts';
import { type Endpoint, isUpstreamError, type RateLimitState, type UpstreamError } from './errors.ts';

/**
 * Client of the upstream service, bound to one caller. Fails only with `UpstreamError`, and for misplaced writes. The fields of a record are not
 * validated here, because GraphQL validates the requested ones.
 */
export interface UpstreamClient {
  /** Returns null if the service has no such record (404, 410). An invalid item of a list is an `UpstreamError` in its place. */
  read<Args extends CallArgs, Body>(endpoint: ReadEndpoint<Args, Body>, args: NoInfer<Args>): Promise<Body | null>;
  /**
   * Sends a write. Unlike `read`, fails with `NOT_FOUND` if the service has no such record.
   *
   * @param writes field or item that it belongs to. @default the field of the mutation that is running
   */
  write<Args extends CallArgs, Body>(
    endpoint: WriteEndpoint<Args, Body>,
    args: NoInfer<Args> & WriteOptions,
    writes?: FieldWrites,
  ): Promise<WriteResult<Body>>;
}

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** `Authorization` header, forwarded unchanged. If undefined, every call fails before it is sent. */
  credential: string | undefined;
  /** Person who has only a token, and shares the credential with others. @default none: a server, which has the credential */
  person?: string | undefined;
  /** Aborts every call when the client disconnects. */
  signal: Signal;
  /** Deadline of the operation, on the clock of `performance.now()`. Queueing and retries count too. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, to correlate the logs of both services. */
  requestId: string;
  events: CallEvents;
  /** Whether reads use no stored responses. Their responses are stored. @default false */
  bypassesCache?: boolean;
  /** Writes of the operation. @default any may be sent */
  writes?: OperationWrites;
}

export interface OperationWrites {
  /** Writes of the field of the mutation that was started last; undefined before the first, and in queries. */
  ofField: FieldWrites | undefined;
}

/**
 * Writes of one field of a mutation, or of one item of a bulk mutation. The client asks it before each write, and counts in it: before the resolver of a
 * field has started or after it has ended, a write would have no key, no outcome and no field in the audit log.
 */
export class FieldWrites {
  /** Number of those that were applied, may have been, or are in flight. */
  applied = 0;
  #hasEnded = false;
  readonly #field: FieldWrites | undefined;

  /** @param field writes of the field whose item this is. @default it is a field */
  constructor(field?: FieldWrites) {
    this.#field = field;
  }

  get mayWrite(): boolean {
    return this.#field?.mayWrite ?? !this.#hasEnded;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Counts a write, unless it is refused. */
  track<Sent extends Promise<unknown>>(write: Sent): Sent {
    this.applied += 1;
    this.#field?.track(write);
    write.catch((error) => {
      this.applied -= isUpstreamError(error) && error.outcome === 'UNKNOWN' ? 0 : 1; // Errors of other classes precede the call.
    });
    return write;
  }
}

/** Client of one operation, which bounds its calls in number and time. */
export interface OperationClient extends UpstreamClient {
  /** Calls so far. Items of bulk mutations have their own limit. */
  readonly budget: { readonly calls: number; readonly bulkItems: number };
  readonly deadline: Deadline;
}

/** Part of a caller that decides which calls may be sent. */
export type CallAuthor = Pick<Caller, 'credential' | 'person' | 'requestId' | 'writes'>;

export interface RecordedCache {
  /** State of the stored response now. `unknown` if the path is not known. */
  state: 'fresh' | 'stale' | 'absent' | 'unknown';
  /** Age up to which a response is used without asking the service. */
  freshSeconds: number;
}

/** Error of a write that was recorded instead of sent. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** Call that is ready to be sent, with the caller's credential. */
export interface UpstreamRequest {
  endpoint: DeclaredEndpoint;
  credential: string;
  /** Person who shares the credential with others, or the credential itself for servers. */
  callerId: string;
  /** Path with encoded ids and query. */
  path: string;
  requestId: string;
  args: CallArgs & WriteOptions;
  /** Headers that the endpoint declares; undefined if there are none. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Body as it is sent; undefined if there is none. */
  body: string | undefined;
  /** Earlier response of a read, which the service can confirm with a 304. @default none */
  known?: Required<Pick<UpstreamResult, 'etag' | 'body' | 'bytes'>>;
}

/** Whether a call is of a person, who has only a token and shares the credential. Servers have the credential itself. */
export const isOfPerson = ({ callerId, credential }: Pick<UpstreamRequest, 'callerId' | 'credential'>): boolean =>
  callerId !== credential;

export interface WriteResult<T> {
  /** Response body without its envelope. */
  body: T;
  /** Whether the service returned its stored response to an earlier write with the same idempotency key. */
  replayed: boolean;
  /** Members of the body that were to be cleared, but have a value in the response. Absent if the endpoint clears none. */
  uncleared?: readonly string[];
  /** Members of the body that have another value in the response. Absent if the endpoint confirms none. */
  unapplied?: readonly string[];
  /** Header `Date` of the response, by which its times can be compared. Absent if the endpoint clears nothing. */
  date?: string | undefined;
}

export interface UpstreamResult extends WriteResult<unknown> {
  status: number;
  rateLimit: RateLimitState | undefined;
  /** `ETag` of a read. Absent if there is none, or it is invalid. */
  etag?: string;
  /** Size of the received body, in bytes. */
  bytes: number;
}

/** Headers that propagate the trace context upstream. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

/** Returns the key of a read: those of one credential with the same key have the same result. Nothing of it is particular to this process. */
export const readKeyOf = ({ endpoint, path, headers }: UpstreamRequest): string =>
  headers === undefined ? endpoint.identity + path : `${endpoint.identity}${path} ${JSON.stringify(headers)}`;

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

export interface StoreStats {
  /** Entries in this process; undefined if other processes share the store. */
  entries?: number;
  bytes?: number;
  /** Entries that were removed because the store was full. */
  evictions?: number;
  /** Problem of the store, for health checks: a clause. Undefined if there is none. */
  problem?: string | undefined;
}

/** One person with a credential of others, or all callers of a credential. */
export interface CallerGroup {
  readonly credential: string;
  /** Undefined for all callers of the credential. */
  readonly callerId: string | undefined;
}

type CircuitChange =
  | {
      /** It opened. Probes that fail afterwards are no further changes. */
      kind: 'opened';
      /** Last failure before. */
      failure: UpstreamError;
      /** Time since the first of the failures. */
      failingMs: number;
      /** Callers whose calls are paused; undefined for all. */
      paused: CallerGroup | undefined;
    }
  | { kind: 'closed'; openMs: number };

export type ReportCircuitChange = (change: CircuitChange) => void;

/** Difference between a response and the contract that doesn't fail the operation unless it uses the field. */
export type DeviationKind = 'missing' | 'null' | 'wrong_type' | 'unknown_value';

/** Deviation of a response. It never contains a value. */
export interface Deviation {
  kind: DeviationKind;
  /** Place in the body, such as `data.steps[].name`. Each list is `[]`, whichever of its items deviates. */
  path: string;
}

/** Called for every deviation that is found, once per place and inspected response. */
export type ReportDeviation = (endpoint: Endpoint, deviation: Deviation) => void;
