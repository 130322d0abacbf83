// OpenTelemetry for Notigraph, loaded before it with "node --import". Reads the variables OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG, with the meaning in OpenTelemetry's specification.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import manifest from 'notigraph/package.json' with { type: 'json' };

const { OTEL_TRACES_SAMPLER = 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG = '1' } = process.env;

const samplers = {
  always_on: new AlwaysOnSampler(),
  always_off: new AlwaysOffSampler(),
  traceidratio: new TraceIdRatioBasedSampler(Number(OTEL_TRACES_SAMPLER_ARG)), // The share of traces that start here.
};
const sampler = samplers[OTEL_TRACES_SAMPLER.replace('parentbased_', '')];
if (sampler === undefined) {
  throw new TypeError(
    `OTEL_TRACES_SAMPLER must be ${Object.keys(samplers).join(', ')}, or one with "parentbased_" before it.`,
  );
}

const provider = new TracerProvider({
  resource: defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'notigraph', 'service.version': manifest.version }))
    .merge(
      detectResources({
        detectors: [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector],
      }),
    ),
  sampler: OTEL_TRACES_SAMPLER.startsWith('parentbased_') ? new ParentBasedSampler({ root: sampler }) : sampler,
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()); // For plugins of the host.

// Exports the last spans, once all requests are answered. Without a collector, the exit code stays 0.
process.once('beforeExit', () =>
  provider.shutdown().catch(({ message }) => console.error(`The last spans were not exported: ${message}`)),
);
