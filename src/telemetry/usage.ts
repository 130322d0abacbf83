// Receives what happens to the calls of one operation, and passes it to its log lines, trace, metrics and audit log.

import type { Identity } from '../auth/identity.ts';
import type { CacheHit, CallEvents, InvalidationReason, Outcome } from '../upstream/call-events.ts';
import { type Endpoint, isUpstreamError, type RateLimitState, type UpstreamError } from '../upstream/errors.ts';
import type { TraceHeaders, UpstreamRequest } from '../upstream/request.ts';
import type { CallEntry, FailedResult } from './access-log.ts';
import type { AuditLog, WriteRecord } from './audit-log.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { OperationTrace } from './tracing/operation-trace.ts';

/** Notes a response that comes from something else than an upstream, or that keeps what was to be cleared. */
export type NoteEpisode = (kind: 'foreign' | 'uncleared', upstreamName: string | undefined, endpoint: Endpoint) => void;

/** Receivers of what happens to the calls of one operation. */
interface UsageReceivers {
  /** @default none */
  metrics?: GatewayMetrics | undefined;
  /** Whether calls have the configured key of a tenant. @default false */
  usesTenantKey?: boolean;
  /** Called for each such response. @default nothing */
  noteEpisode?: NoteEpisode | undefined;
  /** Name of the upstream. @default the only one, which has none */
  upstreamName?: string | undefined;
  /** Trace of the operation. @default none */
  trace?: OperationTrace | undefined;
  /** Log of writes, with their author. @default none */
  audit?: { log: AuditLog; identity: Identity; address: string | undefined } | undefined;
  /** Whether the log names the calls. @default false */
  logsCalls?: boolean;
}

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
  readonly #openEntries: Map<UpstreamRequest, { entry: CallEntry; startedAt: number }> | undefined;
  readonly #writes: Map<UpstreamRequest, WriteRecord> | undefined;
  #inFlight = 0;
  #inFlightSince = 0;
  #elapsedMs = 0;

  constructor(receivers: UsageReceivers = {}) {
    this.#receivers = receivers;
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
    if (this.#inFlight === 0) {
      this.#inFlightSince = performance.now();
    }
    this.#inFlight += 1;
    if (isShared) {
      this.shared += 1;
      this.#openEntry(request, { shared: true });
    }
    const { audit, trace } = this.#receivers;
    if (audit !== undefined && request.endpoint.method !== 'GET') {
      const { identity, address } = audit;
      const author = { identity, address, traceIds: trace?.ids, field: this.field };
      this.#writes?.set(request, audit.log.begin(author, request));
    }
  }

  queued({ endpoint }: UpstreamRequest): void {
    this.#receivers.trace?.addEvent('queued', endpoint);
  }

  dequeued({ endpoint }: UpstreamRequest, waitedMs: number): void {
    this.#receivers.trace?.addEvent('dequeued', endpoint, waitedMs);
  }

  refusal(request: UpstreamRequest): UpstreamError | undefined {
    return this.#writes?.get(request)?.refusal();
  }

  sent(request: UpstreamRequest, resends: number, upstreamUrl: URL): TraceHeaders | undefined {
    this.requests += 1;
    if (resends > 0) {
      this.retries += 1;
    }
    this.#openEntry(request, { attempt: resends + 1 });
    return this.#receivers.trace?.startRequest(request, resends, upstreamUrl);
  }

  attemptEnded(request: UpstreamRequest, outcome: Outcome, milliseconds: number): void {
    const { metrics, trace, noteEpisode, upstreamName, usesTenantKey = false } = this.#receivers;
    this.#closeEntry(request, outcome);
    metrics?.requestEnded(upstreamName, request.endpoint, outcome, milliseconds, usesTenantKey);
    trace?.endRequest(request, outcome);
    if (isUpstreamError(outcome) ? outcome.isForeign : outcome.uncleared?.length) {
      noteEpisode?.(isUpstreamError(outcome) ? 'foreign' : 'uncleared', upstreamName, request.endpoint);
    }
  }

  retryDelayed({ endpoint }: UpstreamRequest, delayMs: number): void {
    this.#receivers.trace?.addEvent('retry_delayed', endpoint, delayMs);
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
    const { trace } = this.#receivers;
    if (isShared) {
      this.#closeEntry(request, outcome);
      trace?.share(request.endpoint, outcome);
    } else {
      trace?.callEnded(request.endpoint, outcome);
      this.#writes?.get(request)?.end(outcome);
    }
  }

  answeredFromCache(request: UpstreamRequest, { resource, answer, ageMs, result }: CacheHit, waited: boolean): void {
    const { metrics, trace, upstreamName } = this.#receivers;
    const { method, route } = request.endpoint;
    this.cached += 1;
    if (waited) {
      this.refreshed += 1;
    }
    if (answer === 'stale') {
      this.staleMs = Math.max(this.staleMs ?? 0, ageMs);
    }
    this.calls?.push({ method, route, ageMs: Math.round(ageMs) });
    metrics?.cachedRead(upstreamName, resource, answer, ageMs);
    trace?.share(request.endpoint, result);
  }

  cacheMissed(resource: string, reason: 'miss' | 'bypass' | 'unavailable'): void {
    const { metrics, upstreamName } = this.#receivers;
    metrics?.cachedRead(upstreamName, resource, reason);
  }

  invalidated(reason: InvalidationReason): void {
    const { metrics, upstreamName } = this.#receivers;
    metrics?.invalidated(upstreamName, reason);
  }

  inBackground(): Usage {
    return new Usage({ ...this.#receivers, audit: undefined, logsCalls: false });
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
