// Starts traces of operations, with the OpenTelemetry SDK of the operator and the host's active span or the trace context of the request.

import {
  context as contexts,
  createTraceState,
  type Link,
  type SpanContext,
  SpanKind,
  TraceFlags,
  type TraceState,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Identity } from '../../auth/identity.ts';
import { toLoggedError } from '../../errors/logged-error.ts';
import { VERSION } from '../../lib/installation.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { Outcome } from '../../upstream/calls.ts';
import { type GuardSdk, OperationTrace, type TracedRequest, writeTraceContext } from './operation-trace.ts';

export interface OperationStart extends TracedRequest {
  /** Caller; undefined if it was not authenticated. */
  identity?: Pick<Identity, 'clientKind'> | undefined;
  /** Start time, as in `performance.now()`. */
  startedAt: number;
}

/** Name of a span until the type of its operation is known. */
const UNKNOWN_TYPE = 'GraphQL Operation';

/**
 * Creates traces with the SDK that the operator registered globally. Looks it up for every operation, because it can be registered later.
 *
 * The active span of the host, or else the trace context of a request, is continued for servers. Browsers and anonymous clients could join the
 * traces of others, or choose what is sampled, also through instrumentation of the host that continues theirs, so it is only linked.
 *
 * @returns starts the trace of an operation. Returns undefined without an SDK, unless a server sent a trace context to pass on
 */
export function createTracing(logger: Logger): (start: OperationStart) => OperationTrace | undefined {
  warnOfIgnoredSdk(logger);
  const guard = createSdkGuard(logger);
  const sources = new WeakMap<Outcome, SpanContext>();
  const readTimeOrigin = createTimeOrigin();

  function start(operation: OperationStart) {
    const { identity, startedAt } = operation;
    const sdk = registeredSdk();
    const host = sdk && trace.getSpanContext(contexts.active());
    const origin = host && trace.isSpanContextValid(host) ? host : readTraceContext(operation);
    if (origin === undefined && sdk === undefined) {
      return undefined;
    }
    const active = contexts.active(); // With what else the host has in it, such as baggage.
    const isTrusted = identity?.clientKind === 'server';
    const parent = origin === undefined || !isTrusted ? trace.deleteSpan(active) : trace.setSpanContext(active, origin);
    const links: Link[] = origin === undefined || isTrusted ? [] : [{ context: origin }];
    const tracer = trace.getTracer('notigraph', VERSION);
    const timeOrigin = readTimeOrigin();
    const options = { kind: SpanKind.SERVER, startTime: timeOrigin + startedAt, links };
    const span = tracer.startSpan(UNKNOWN_TYPE, options, parent);
    const spanContext = span.spanContext();
    if (!trace.isSpanContextValid(spanContext)) {
      return undefined;
    }
    const context = trace.setSpan(active, span);
    const passedHeaders = spanContext === origin ? writeTraceContext(spanContext) : undefined; // Without an SDK, the span has the context of its parent.
    return new OperationTrace({ request: operation, guard, sources, tracer, span, context, timeOrigin, passedHeaders });
  }

  return (operation) => guard(() => start(operation));
}

/** Version, trace id, span id, flags; in later versions also fields that are not known yet. Ids of zeros and version `ff` are invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** Length of a `traceparent` of version 00, which has no further fields. */
const VERSION_00_LENGTH = 55;

/**
 * Reads the trace context of a request (W3C Trace Context). Not read by the propagator of the SDK, because only servers are trusted with it, and
 * its format is part of this gateway's interface.
 *
 * @returns undefined if `traceparent` is absent, repeated or invalid
 */
function readTraceContext({ request }: TracedRequest): SpanContext | undefined {
  const traceparent = request.header('traceparent');
  if (traceparent === undefined) {
    return undefined;
  }
  const hasMore = traceparent.length !== VERSION_00_LENGTH;
  if (!TRACEPARENT.test(traceparent) || (hasMore && traceparent.startsWith('00'))) {
    return undefined;
  }
  const traceState = readTraceState(request.header('tracestate'));
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53, 55), 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(traceState && { traceState }),
  };
}

/** Reads `tracestate`. The API drops invalid, repeated and excess members; then the whole header is invalid. */
function readTraceState(header: string | undefined): TraceState | undefined {
  if (header === undefined) {
    return undefined;
  }
  const state = createTraceState(header);
  const members = header.split(',').map((member) => member.trim());
  const text = members.filter((member) => member !== '').join(','); // Empty members are valid.
  return state.serialize() === text ? state : undefined;
}

/** Creates the guard of the SDK. The first failure is logged; more would only repeat it. */
function createSdkGuard(logger: Logger): GuardSdk {
  let hasFailed = false;
  return (call) => {
    try {
      return call();
    } catch (error) {
      if (!hasFailed) {
        hasFailed = true;
        const err = toLoggedError(error);
        logger.error({ err }, 'The OpenTelemetry SDK failed. Requests are served, but traces may be incomplete.');
      }
      return undefined;
    }
  };
}

/**
 * Creates a function that returns the difference between the time of day and the monotonic clock. It changes only if the clock was set, so that
 * spans of different operations are in order within a millisecond.
 */
function createTimeOrigin(): () => number {
  let origin = 0;
  return () => {
    const current = Date.now() - performance.now();
    if (Math.abs(current - origin) > 1) {
      origin = current;
    }
    return origin;
  };
}

/** Key of the registered SDK, which all copies of the API of major version 1 share. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** Returns what the operator registered, for all versions of the API; undefined without an SDK. */
function registeredSdk(): { trace: unknown; version: unknown } | undefined {
  const registry: unknown = Reflect.get(globalThis, REGISTRY);
  return isRecord(registry) && registry.trace !== undefined
    ? { trace: registry.trace, version: registry.version }
    : undefined;
}

/** Warns if an SDK is registered that the API silently ignores, because it was registered with an older minor version of the API. */
function warnOfIgnoredSdk(logger: Logger): void {
  const sdk = registeredSdk();
  if (sdk !== undefined && sdk.trace !== trace.getTracerProvider()) {
    logger.warn(
      { apiVersion: sdk.version },
      'The OpenTelemetry SDK is ignored: it was registered with an older version of @opentelemetry/api. Install one version for both.',
    );
  }
}
