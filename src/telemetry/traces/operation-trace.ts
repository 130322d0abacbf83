// Records one operation and its upstream requests as spans.

import {
  type Attributes,
  type Context,
  context as contexts,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { isErrorCode } from '../../errors/codes.ts';
import { portOf } from '../../lib/urls.ts';
import type { Outcome, TraceHeaders, UpstreamRequest } from '../../upstream/calls.ts';
import { type Endpoint, isUpstreamError, type UpstreamError } from '../../upstream/errors.ts';
import { type AccessLogEntry, shortenName, type TraceIds } from '../logs/access-log.ts';

export interface TracedRequest {
  readonly request: {
    readonly method: string;
    readonly scheme: 'http' | 'https';
    /** Returns the value of a header. The name must be in lower case. A repeated header is a comma-separated list. */
    header(name: string): string | undefined;
  };
  /** Path of the endpoint; undefined if the request is for no endpoint. */
  readonly route?: string | undefined;
}

/** Runs a call of the operator's SDK. Returns undefined if it throws, because a broken SDK must not fail a request. */
export type GuardSdk = <T>(call: () => T) => T | undefined;

interface TraceParts {
  request: TracedRequest;
  guard: GuardSdk;
  /** Spans of requests by their result or error, for links from operations that share it. */
  sources: WeakMap<Outcome, SpanContext>;
  tracer: Tracer;
  span: Span;
  context: Context;
  /** Headers to send upstream without an SDK, which has no spans for requests. */
  passedHeaders?: TraceHeaders | undefined;
  /** Added to the monotonic clock for the time of day, so that durations are exact even if the clock is set. */
  timeOrigin: number;
}

/** Events for calls that were not sent, by code. */
const NOT_SENT: Partial<Record<UpstreamError['code'], string>> = {
  RATE_LIMITED: 'throttled',
  UPSTREAM_UNAVAILABLE: 'circuit_open',
  OVERLOADED: 'queue_full',
};

/** Trace of one operation: its server span, and a client span for each request sent for it. */
export class OperationTrace {
  readonly ids: TraceIds;
  readonly #parts: TraceParts;
  readonly #requests = new Map<UpstreamRequest, { span: Span; spanContext: SpanContext }>();
  /** Whether the span still records. False if it is not sampled. */
  #records: boolean;

  constructor(parts: TraceParts) {
    const { traceId, spanId } = parts.span.spanContext();
    this.ids = { trace_id: traceId, span_id: spanId };
    this.#parts = parts;
    this.#records = parts.span.isRecording();
  }

  /** Runs the operation with its span as the active one, for plugins of the host. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#parts.passedHeaders !== undefined) {
      return work();
    }
    let result: Promise<T> | undefined;
    this.#parts.guard(() =>
      contexts.with(this.#parts.context, () => {
        result = work();
      }),
    );
    return result ?? work();
  }

  /** Ends the span. Called with the response. */
  end(summary: OperationSummary): void {
    if (!this.#records) {
      return;
    }
    this.#records = false;
    const { span } = this.#parts;
    const { type, status, code } = summary;
    this.#parts.guard(() => {
      if (type !== undefined) {
        span.updateName(type); // Without the operation's name, which clients choose.
      }
      span.setAttributes({ ...describeServerRequest(this.#parts.request), ...describeOperation(summary) });
      if (status >= 500 || (status < 400 && code !== undefined)) {
        span.setStatus({ code: SpanStatusCode.ERROR }); // Other statuses are the client's mistakes.
      }
      span.end(this.#now());
    });
  }

  /** Adds an event about a call, with the time that it has waited or is going to wait. */
  addEvent(name: string, endpoint: Endpoint, waitMs?: number): void {
    if (this.#records) {
      const wait = waitMs !== undefined && { 'notigraph.wait_ms': waitMs };
      const attributes = { ...describeEndpoint(endpoint), ...wait };
      this.#parts.guard(() => this.#parts.span.addEvent(`notigraph.${name}`, attributes, this.#now()));
    }
  }

  /** A call has ended. Records if it was not sent, because of a rate limit, the circuit breaker or a full queue. */
  callEnded(endpoint: Endpoint, outcome: Outcome): void {
    const event = isUpstreamError(outcome) && !outcome.sent ? NOT_SENT[outcome.code] : undefined;
    if (event !== undefined) {
      this.addEvent(event, endpoint);
    }
  }

  /** Starts the span of a request. Returns the headers that continue it; undefined if there are none. */
  startRequest(request: UpstreamRequest, resends: number, upstreamUrl: URL): TraceHeaders | undefined {
    const { passedHeaders } = this.#parts;
    return passedHeaders ?? this.#parts.guard(() => this.#startSpan(request, resends, upstreamUrl));
  }

  endRequest(request: UpstreamRequest, outcome: Outcome): void {
    const started = this.#requests.get(request);
    if (started === undefined) {
      return;
    }
    const { span, spanContext } = started;
    this.#requests.delete(request);
    this.#parts.sources.set(outcome, spanContext);
    this.#parts.guard(() => {
      span.setAttributes(describeOutcome(outcome));
      if (isUpstreamError(outcome)) {
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end(this.#now());
    });
  }

  /** The operation uses the outcome of a request that was sent for another one, in flight or stored. Links it to the span of that request. */
  share(endpoint: Endpoint, outcome: Outcome): void {
    const context = this.#parts.sources.get(outcome);
    if (context !== undefined && this.#records) {
      this.#parts.guard(() => this.#parts.span.addLink({ context, attributes: describeEndpoint(endpoint) }));
    }
  }

  #startSpan(request: UpstreamRequest, resends: number, upstreamUrl: URL): TraceHeaders | undefined {
    const { tracer, context } = this.#parts;
    const { method, route } = request.endpoint;
    const options: SpanOptions = { kind: SpanKind.CLIENT, startTime: this.#now() };
    if (this.#records) {
      options.attributes = describeRequest(request.endpoint, resends, upstreamUrl);
    }
    const span = tracer.startSpan(`${method} ${route}`, options, context);
    const spanContext = span.spanContext();
    if (span.isRecording()) {
      if (!this.#records) {
        span.setAttributes(describeRequest(request.endpoint, resends, upstreamUrl)); // Rare. Checking attributes takes as long as starting a span.
      }
      this.#requests.set(request, { span, spanContext });
    }
    return spanContext.traceId === this.ids.trace_id ? writeTraceContext(spanContext) : undefined; // Otherwise it is invalid.
  }

  #now(): number {
    return this.#parts.timeOrigin + performance.now();
  }
}

/** Writes the headers of W3C Trace Context. */
export function writeTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/** Describes the request of an operation. Its route is its whole path. */
const describeServerRequest = ({ request, route }: TracedRequest): Attributes => ({
  'http.request.method': request.method,
  'url.scheme': request.scheme,
  'http.route': route,
  'url.path': route,
});

/** Result of an operation, as in its log line. */
type OperationSummary = Pick<
  AccessLogEntry,
  'requestId' | 'identity' | 'operation' | 'type' | 'code' | 'status' | 'upstreamCalls' | 'cached'
>;

/** Describes an operation and its result. The document is left out, because it can contain data. SDKs leave out what is undefined. */
function describeOperation(summary: OperationSummary): Attributes {
  const { requestId, identity, operation, type, code, status, upstreamCalls, cached } = summary;
  return {
    'http.response.status_code': status,
    'notigraph.request_id': requestId,
    'notigraph.upstream_calls': upstreamCalls,
    'notigraph.cached_reads': cached,
    'notigraph.client_kind': identity?.clientKind,
    'notigraph.upstream': identity?.upstreamName,
    'graphql.operation.type': type,
    'graphql.operation.name': operation === undefined || operation === 'anonymous' ? undefined : shortenName(operation),
    'error.type': code === undefined || isErrorCode(code) ? code : '_OTHER', // Plugins can choose codes.
  };
}

/** Describes an endpoint by its template. There is no `url.full`, because it would contain ids. */
const describeEndpoint = ({ method, route }: Endpoint): Attributes => ({
  'http.request.method': method,
  'url.template': route,
});

const describeRequest = (endpoint: Endpoint, resends: number, upstreamUrl: URL): Attributes => ({
  ...describeEndpoint(endpoint),
  'server.address': upstreamUrl.hostname,
  'server.port': portOf(upstreamUrl),
  ...(resends > 0 && { 'http.request.resend_count': resends }),
});

const describeOutcome = (outcome: Outcome): Attributes => ({
  'error.type': isUpstreamError(outcome) ? errorTypeOf(outcome) : undefined,
  'http.response.status_code': outcome.status,
});

/** Returns the status of an error response, as OpenTelemetry's conventions for HTTP clients want, or the code of another failure. */
const errorTypeOf = ({ status = 0, code }: UpstreamError): string => (status >= 400 ? String(status) : code);
