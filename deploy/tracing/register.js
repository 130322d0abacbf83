// Sends spans to the collector at OTEL_EXPORTER_OTLP_ENDPOINT. Loaded before Notigraph, with "node --import".
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const { OTEL_SERVICE_NAME = 'notigraph', OTEL_TRACES_SAMPLER_ARG = '1' } = process.env;

const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': OTEL_SERVICE_NAME }),
  // The share of traces that start here; callers decide about theirs.
  sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(OTEL_TRACES_SAMPLER_ARG)) }),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

// After the last request. A collector that is down doesn't change the exit code.
process.once('beforeExit', () =>
  provider.shutdown().catch(({ message }) => console.error(`The last spans were not exported: ${message}`)),
);
