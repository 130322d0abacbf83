// Records the spans of OpenTelemetry in memory.

import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/** Recorded span, with the members that tests compare. */
export type RecordedSpan = ReturnType<typeof toRecorded>;

/** SDK that is registered globally, as `node --import` does it. */
export type TestTraces = ReturnType<typeof registerTestTraces>;

/** Registers the SDK with an exporter in memory. Dispose it, because other test files share the process. */
export function registerTestTraces(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(sampler !== undefined && { sampler }),
  });
  const isRegistered =
    trace.setGlobalTracerProvider(provider) &&
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  if (!isRegistered) {
    throw new Error('another SDK is registered');
  }
  return {
    /** Returns the ended spans in the order of their start, and forgets them. */
    take(): RecordedSpan[] {
      const spans = exporter.getFinishedSpans().toSorted((a, b) => millisecondsOf(a) - millisecondsOf(b));
      exporter.reset();
      return spans.map(toRecorded);
    },
    /** Ended spans as the SDK has them. */
    raw: (): readonly ReadableSpan[] => exporter.getFinishedSpans(),
    [Symbol.dispose]() {
      trace.disable();
      context.disable();
    },
  };
}

const millisecondsOf = ({ startTime: [seconds, nanoseconds] }: ReadableSpan): number =>
  seconds * 1_000 + nanoseconds / 1e6;

const toRecorded = (span: ReadableSpan) => ({
  name: span.name,
  kind: SpanKind[span.kind] ?? '',
  traceId: span.spanContext().traceId,
  spanId: span.spanContext().spanId,
  /** Undefined for the root of a trace. */
  parentId: span.parentSpanContext?.spanId,
  status: SpanStatusCode[span.status.code] ?? '',
  attributes: { ...span.attributes } as Record<string, unknown>,
  /** Names of events with their attributes, in order. */
  events: span.events.map(({ name, attributes }): [string, Record<string, unknown>] => [name, { ...attributes }]),
  /** Linked spans: trace id and span id. */
  links: span.links.map(({ context: { traceId, spanId } }) => `${traceId} ${spanId}`),
});
