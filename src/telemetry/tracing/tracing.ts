// Starts traces of operations, with the OpenTelemetry SDK of the operator.

import { type Link, ROOT_CONTEXT, type SpanContext, SpanKind, trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Identity } from '../../auth/identity.ts';
import { isRecord } from '../../lib/is-record.ts';
import { VERSION } from '../../lib/version.ts';
import type { Outcome } from '../../upstream/call-events.ts';
import { OperationTrace, type TracedRequest } from './operation-trace.ts';
import { createSdkGuard, readTraceContext, writeTraceContext } from './trace-context.ts';

interface OperationStart extends TracedRequest {
  /** Caller; undefined if it was not authenticated. */
  identity?: Pick<Identity, 'clientKind'> | undefined;
  /** Start time, as in `performance.now()`. */
  startedAt: number;
}

/** Starts the trace of an operation. Returns undefined without an SDK, unless a server sent a trace context to pass on. */
type StartTrace = (start: OperationStart) => OperationTrace | undefined;

/** Name of a span until the type of its operation is known. */
const UNKNOWN_TYPE = 'GraphQL Operation';

/**
 * Creates traces with the SDK that the operator registered globally. Looks it up for every operation, because it can be registered later.
 *
 * The trace context of a server is continued. Browsers and anonymous clients could join the traces of others, or choose what is sampled, so
 * theirs is only linked.
 */
export function createTracing(logger: Logger): StartTrace {
  warnOfIgnoredSdk(logger);
  const guard = createSdkGuard(logger);
  const sources = new WeakMap<Outcome, SpanContext>();
  const readTimeOrigin = createTimeOrigin();

  function start(operation: OperationStart) {
    const { request, identity, startedAt } = operation;
    const remote = readTraceContext(request);
    if (remote === undefined && registeredSdk() === undefined) {
      return undefined;
    }
    const isTrusted = identity?.clientKind === 'server';
    const parent = remote === undefined || !isTrusted ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
    const links: Link[] = remote === undefined || isTrusted ? [] : [{ context: remote }];
    const tracer = trace.getTracer('notigraph', VERSION);
    const timeOrigin = readTimeOrigin();
    const options = { kind: SpanKind.SERVER, startTime: timeOrigin + startedAt, links };
    const span = tracer.startSpan(UNKNOWN_TYPE, options, parent);
    const spanContext = span.spanContext();
    if (!trace.isSpanContextValid(spanContext)) {
      return undefined;
    }
    const context = trace.setSpan(ROOT_CONTEXT, span);
    const passedHeaders = spanContext === remote ? writeTraceContext(spanContext) : undefined; // Without an SDK, the span has the context of its parent.
    return new OperationTrace({ request: operation, guard, sources, tracer, span, context, timeOrigin, passedHeaders });
  }

  return (operation) => guard(() => start(operation));
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
