import { isErrorCode } from '../settings/error-codes.ts';
import type { CircuitState, UpstreamObserver, UpstreamState } from '../upstream/transport/observer.ts';
import type { AccessLogEntry } from './access-log.ts';
import { counter, gauge, histogram, type MetricSamples } from './metrics-snapshot.ts';
import { countsOf, durationsOf, type OutcomeSamples, samplesOf } from './outcome-samples.ts';

/** Metrics of a gateway. */
export interface GatewayMetrics {
  /** Counts an operation or a rejected request. Called with the response. */
  operation(entry: Pick<AccessLogEntry, 'type' | 'code' | 'status' | 'startedAt'>): void;
  /** Observer that counts the requests to the service. */
  upstream: UpstreamObserver;
  /** Returns the current values. */
  snapshot(): MetricSamples[];
}

/** Values of the circuit breaker metric. */
const CIRCUIT_STATE_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, probing: 1, open: 2 };

/**
 * Creates the metrics of a gateway. They are plain numbers that are converted for each scrape, because the counters and histograms of
 * prom-client would cost 1 µs per operation with one call.
 */
export function createGatewayMetrics(): GatewayMetrics {
  const operations = new Map<string, OutcomeSamples>();
  const requests = new Map<string, Map<string, OutcomeSamples>>();
  let stateOf = (): UpstreamState => ({ circuit: 'closed', waiting: 0 });

  return {
    operation({ type, code, status, startedAt }) {
      const hasType = type === 'query' || type === 'mutation';
      samplesOf(operations, hasType ? type : 'none').add(codeOf(code, status), performance.now() - startedAt);
    },
    upstream: {
      ended({ method, route }, result, milliseconds) {
        let methods = requests.get(route);
        if (methods === undefined) {
          methods = new Map();
          requests.set(route, methods);
        }
        samplesOf(methods, method).add(result, milliseconds);
      },
      watch(getState) {
        stateOf = getState;
      },
    },
    snapshot() {
      const operationSamples = Array.from(operations, ([type, samples]) => [{ type }, samples] as const);
      const requestSamples = Array.from(requests, ([route, methods]) =>
        Array.from(methods, ([method, samples]) => [{ method, route }, samples] as const),
      ).flat();
      const { circuit, waiting } = stateOf();
      return [
        counter(
          'notigraph_operations_total',
          'Operations by the code of their first error. Requests rejected before execution have the type "none".',
          countsOf(operationSamples, 'code'),
        ),
        histogram(
          'notigraph_operation_duration_seconds',
          'Time from the request to the response.',
          durationsOf(operationSamples),
        ),
        counter(
          'notigraph_upstream_requests_total',
          'Requests to the service by status class or error code.',
          countsOf(requestSamples, 'result'),
        ),
        histogram(
          'notigraph_upstream_request_duration_seconds',
          'Time from sending a request to the end of the response.',
          durationsOf(requestSamples),
        ),
        gauge('notigraph_upstream_calls_waiting', 'Calls waiting for other calls with the same API key.', waiting),
        gauge(
          'notigraph_circuit_breaker_state',
          'State of the circuit breaker. 0: closed, 1: probing with one call, 2: open.',
          CIRCUIT_STATE_VALUES[circuit],
          'max',
        ),
      ];
    },
  };
}

/** Returns a known code. Clients can't choose codes, but plugins can, and labels must be a closed set. */
function codeOf(code: unknown, status: number): string {
  if (code === undefined) {
    return status < 400 ? 'OK' : 'OTHER';
  }
  return isErrorCode(code) ? code : 'OTHER';
}
