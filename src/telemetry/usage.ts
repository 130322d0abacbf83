// Receives what happens to the calls of one operation, and passes it to its log lines, trace, metrics and audit log.

import { ANONYMOUS, type Identity } from '../auth/identity.ts';
import type {
  CacheHit,
  CallEvents,
  InvalidationReason,
  Outcome,
  TraceHeaders,
  UpstreamRequest,
} from '../upstream/calls.ts';
import { isUpstreamError, type RateLimitState, type UpstreamError } from '../upstream/errors.ts';
import type { AuditLog, WriteRecord } from './audit-log.ts';
import type { CallEntry, FailedResult } from './logs/access-log.ts';
import type { NoteEpisode } from './logs/upstream-log.ts';
import type { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { OperationTrace } from './traces/operation-trace.ts';

/** Receivers of what happens to the calls of all operations. */
export interface UsageReceivers {
  /** @default none */
  metrics?: GatewayMetrics | undefined;
  /** Called for each such response. @default nothing */
  noteEpisode?: NoteEpisode | undefined;
  /** Log of writes, with their author. @default none */
  audit?: AuditLog | undefined;
  /** Whether the log names the calls. @default false */
  logsCalls?: boolean;
}

/** Part of an operation's request that receivers are told. */
export interface CallsOrigin {
  readonly trace?: OperationTrace | undefined;
  /** IP address of the client. */
  readonly address?: string | undefined;
}

const NONE = {};

/** Upstream calls of one operation: their cost, and what log, trace, metrics and audit log say about them. */
export class Usage implements CallEvents {
  /** Requests sent: fewer than calls if some were shared or cached, more if some were retried. */
  requests = 0;
  /** Requests that were sent again after a failure. */
  retries = 0;
  /** Calls that used the response of an identical call in flight. */
  shared = 0;
  /** Reads that were answered from the cache. */
  cached = 0;
  /** Whether the operation has made a call, even if that was refused before it was sent. */
  hasCalls = false;
  /** Reads among `cached` that first waited for a refresh, which failed or took too long. */
  refreshed = 0;
  /** Age of the oldest stored response that was used because the service failed, in milliseconds. */
  staleMs: number | undefined;
  /** The service's own rate limit, from the response with the fewest calls remaining. */
  rateLimit: RateLimitState | undefined;
  /** Failures that mutations returned as data; undefined if there are none. */
  results: FailedResult[] | undefined;
  /** Field of the mutation that is running, for the audit log. They run one after another. */
  field: string | undefined;
  /** Calls in the order in which they were sent; undefined unless the log names them. */
  readonly calls: CallEntry[] | undefined;
  readonly #receivers: UsageReceivers;
  readonly #identity: Identity;
  readonly #origin: CallsOrigin;
  readonly #openEntries: Map<UpstreamRequest, { entry: CallEntry; startedAt: number }> | undefined;
  readonly #writes: Map<UpstreamRequest, WriteRecord> | undefined;
  #inFlight = 0;
  #inFlightSince = 0;
  #elapsedMs = 0;

  /**
   * @param receivers all of them are optional. @default none
   * @param identity caller of the operation. @default anonymous
   * @param origin request of the operation. @default unknown
   */
  constructor(receivers: UsageReceivers = NONE, identity = ANONYMOUS, origin: CallsOrigin = NONE) {
    this.#receivers = receivers;
    this.#identity = identity;
    this.#origin = origin;
    this.calls = receivers.logsCalls ? [] : undefined;
    this.#openEntries = receivers.logsCalls ? new Map() : undefined;
    this.#writes = receivers.audit && new Map();
  }

  /** Time during which at least one call was in flight, in milliseconds. */
  get elapsedMs(): number {
    return this.#elapsedMs + (this.#inFlight === 0 ? 0 : performance.now() - this.#inFlightSince);
  }

  /** Notes the kinds of failures that the field of a mutation returns as data, if there are any. */
  addResults(field: string, kinds: readonly string[] | undefined): void {
    if (kinds !== undefined && kinds.length > 0) {
      this.results ??= [];
      this.results.push(...kinds.map((kind) => [field, kind] as const));
    }
  }

  started(request: UpstreamRequest, isShared: boolean): void {
    this.hasCalls = true;
    if (this.#inFlight === 0) {
      this.#inFlightSince = performance.now();
    }
    this.#inFlight += 1;
    if (isShared) {
      this.shared += 1;
      this.#openEntry(request, { shared: true });
    }
    const { audit } = this.#receivers;
    if (audit !== undefined && request.endpoint.method !== 'GET') {
      const { address, trace } = this.#origin;
      const author = { identity: this.#identity, address, traceIds: trace?.ids, field: this.field };
      this.#writes?.set(request, audit.begin(author, request));
    }
  }

  queued({ endpoint }: UpstreamRequest): void {
    this.#origin.trace?.addEvent('queued', endpoint);
  }

  dequeued({ endpoint }: UpstreamRequest, waitedMs: number): void {
    this.#origin.trace?.addEvent('dequeued', endpoint, waitedMs);
  }

  refusal(request: UpstreamRequest): UpstreamError | undefined {
    return this.#writes?.get(request)?.refusal();
  }

  attemptBegan(request: UpstreamRequest, resends: number, upstreamUrl: URL): TraceHeaders | undefined {
    this.#openEntry(request, { attempt: resends + 1 });
    return this.#origin.trace?.startRequest(request, resends, upstreamUrl);
  }

  sent({ endpoint }: UpstreamRequest, resends: number, waitedMs: number | undefined): void {
    this.requests += 1;
    if (resends > 0) {
      this.retries += 1;
    }
    if (waitedMs !== undefined) {
      this.#origin.trace?.addEvent('socket_acquired', endpoint, waitedMs);
    }
  }

  attemptEnded(request: UpstreamRequest, outcome: Outcome, milliseconds: number | undefined): void {
    const { metrics, noteEpisode } = this.#receivers;
    const { clientKind, upstreamName } = this.#identity;
    this.#closeEntry(request, outcome);
    if (milliseconds !== undefined) {
      metrics?.requestEnded(upstreamName, request.endpoint, outcome, milliseconds, clientKind === 'browser');
    }
    this.#origin.trace?.endRequest(request, outcome);
    if (isUpstreamError(outcome) ? outcome.isForeign : outcome.uncleared?.length) {
      noteEpisode?.(isUpstreamError(outcome) ? 'foreign' : 'uncleared', upstreamName, request.endpoint);
    }
  }

  retryDelayed({ endpoint }: UpstreamRequest, delayMs: number): void {
    this.#origin.trace?.addEvent('retry_delayed', endpoint, delayMs);
  }

  ended(request: UpstreamRequest, outcome: Outcome, isShared: boolean): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) {
      this.#elapsedMs += performance.now() - this.#inFlightSince;
    }
    const { rateLimit } = outcome;
    if (rateLimit !== undefined && rateLimit.remaining <= (this.rateLimit?.remaining ?? rateLimit.remaining)) {
      this.rateLimit = rateLimit;
    }
    const { trace } = this.#origin;
    if (isShared) {
      this.#closeEntry(request, outcome);
      trace?.share(request.endpoint, outcome);
    } else {
      trace?.callEnded(request.endpoint, outcome);
      this.#writes?.get(request)?.end(outcome);
    }
  }

  answeredFromCache(request: UpstreamRequest, { resource, answer, ageMs, result }: CacheHit, waited: boolean): void {
    const { method, route } = request.endpoint;
    this.cached += 1;
    if (waited) {
      this.refreshed += 1;
    }
    if (answer === 'stale') {
      this.staleMs = Math.max(this.staleMs ?? 0, ageMs);
    }
    this.calls?.push({ method, route, ageMs: Math.round(ageMs) });
    this.#receivers.metrics?.cachedRead(this.#identity.upstreamName, resource, answer, ageMs);
    this.#origin.trace?.share(request.endpoint, result);
  }

  cacheMissed(resource: string, reason: 'miss' | 'bypass' | 'unavailable'): void {
    this.#receivers.metrics?.cachedRead(this.#identity.upstreamName, resource, reason);
  }

  invalidated(reason: InvalidationReason): void {
    this.#receivers.metrics?.invalidated(this.#identity.upstreamName, reason);
  }

  inBackground(): Usage {
    return new Usage({ ...this.#receivers, audit: undefined, logsCalls: false }, this.#identity, this.#origin);
  }

  #openEntry(request: UpstreamRequest, details: Pick<CallEntry, 'attempt' | 'shared'>): void {
    if (this.#openEntries !== undefined) {
      const { method, route } = request.endpoint;
      const entry: CallEntry = { method, route, ...details };
      this.calls?.push(entry);
      this.#openEntries.set(request, { entry, startedAt: performance.now() });
    }
  }

  #closeEntry(request: UpstreamRequest, outcome: Outcome): void {
    const open = this.#openEntries?.get(request);
    if (open === undefined) {
      return;
    }
    const { entry, startedAt } = open;
    if (outcome.status !== undefined) {
      entry.httpStatus = outcome.status;
    }
    if (isUpstreamError(outcome)) {
      entry.code = outcome.code;
    }
    entry.ms = Math.round((performance.now() - startedAt) * 10) / 10;
  }
}
