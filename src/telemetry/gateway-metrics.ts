import { isErrorCode } from '../settings/error-codes.ts';
import type { CircuitState, UpstreamObserver, UpstreamState } from '../upstream/transport/observer.ts';
import type { AccessLogEntry } from './access-log.ts';
import { counter, gauge, histogram, type MetricSamples } from './metrics-snapshot.ts';
import { countsOf, durationsOf, type OutcomeSamples, samplesOf } from './outcome-samples.ts';

/** What a gateway counts. */
export interface GatewayMetrics {
  /** Counts an operation, or what was refused before it was one; called when it is answered. */
  operation(entry: Pick<AccessLogEntry, 'type' | 'code' | 'status' | 'startedAt'>): void;
  /** Counts the requests to the service. */
  upstream: UpstreamObserver;
  snapshot(): MetricSamples[];
}

const CIRCUIT: Readonly<Record<CircuitState, number>> = { closed: 0, probing: 1, open: 2 };

/**
 * Counts in plain numbers, which become metrics when somebody asks: prom-client's own counters and histograms would cost an operation
 * with one call a microsecond.
 */
export function createGatewayMetrics(): GatewayMetrics {
  const operations = new Map<string, OutcomeSamples>();
  const requests = new Map<string, Map<string, OutcomeSamples>>();
  let stateOf = (): UpstreamState => ({ circuit: 'closed', waiting: 0 });

  return {
    operation({ type, code, status, startedAt }) {
      const isExecuted = type === 'query' || type === 'mutation';
      samplesOf(operations, isExecuted ? type : 'none').add(codeOf(code, status), performance.now() - startedAt);
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
      const ofOperations = Array.from(operations, ([type, series]) => [{ type }, series] as const);
      const ofRequests = Array.from(requests, ([route, methods]) =>
        Array.from(methods, ([method, series]) => [{ method, route }, series] as const),
      ).flat();
      const { circuit, waiting } = stateOf();
      return [
        counter(
          'notigraph_operations_total',
          'Operations by the code of their first error; none: refused before it ran.',
          countsOf(ofOperations, 'code'),
        ),
        histogram('notigraph_operation_duration_seconds', 'From the request to its answer.', durationsOf(ofOperations)),
        counter(
          'notigraph_upstream_requests_total',
          'Requests to the service by the class of the status, or by what went wrong.',
          countsOf(ofRequests, 'result'),
        ),
        histogram(
          'notigraph_upstream_request_duration_seconds',
          'From sending a request to the end of its answer.',
          durationsOf(ofRequests),
        ),
        gauge('notigraph_upstream_calls_waiting', 'Calls that wait for others with the same API key.', waiting),
        gauge(
          'notigraph_circuit_breaker_state',
          'Calls to the service are 0: made, 1: tried with one, 2: refused.',
          CIRCUIT[circuit],
          'max',
        ),
      ];
    },
  };
}

/** Clients cannot choose a code, but a label must not depend on that. */
function codeOf(code: unknown, status: number): string {
  if (code === undefined) {
    return status < 400 ? 'OK' : 'OTHER';
  }
  return isErrorCode(code) ? code : 'OTHER';
}
