import { isErrorCode } from '../settings/error-codes.ts';
import type { CircuitState, UpstreamObserver, UpstreamState } from '../upstream/transport/observer.ts';
import type { AccessLogEntry } from './access-log.ts';
import { createCacheCounts } from './cache-counts.ts';
import { createCounterMemory } from './counter-memory.ts';
import { gauge, type Labels, type MetricSamples } from './metrics-snapshot.ts';
import { addOutcomes, type OutcomeSamples, samplesOf } from './outcome-samples.ts';

/** Metrics of a gateway. */
export interface GatewayMetrics {
  /** Counts an operation or a rejected request. Called with the response. */
  operation(entry: Pick<AccessLogEntry, 'type' | 'code' | 'status' | 'startedAt'>): void;
  /** Returns an observer that counts the requests to a service. With a name, its metrics have the label `upstream`. */
  observerOf(upstream: string | undefined): UpstreamObserver;
  /** Returns the current values. */
  snapshot(): MetricSamples[];
  /** Returns the metrics of a gateway that replaces this one. They continue its counts, but have the states of its own upstreams only. */
  renew(): GatewayMetrics;
}

/** Counts of one upstream. */
interface ObservedUpstream {
  /** Its name, unless it is the only one. */
  labels: Labels;
  stateOf(): UpstreamState;
}

/** Values of the circuit breaker metric. */
const CIRCUIT_STATE_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, probing: 1, open: 2 };

/**
 * Creates the metrics of a gateway. They are plain numbers that are converted for each scrape, because the counters and histograms of
 * prom-client would cost 1 µs per operation with one call.
 *
 * @param memory memory of the counters, to which other parts of the gateway may have added theirs
 */
export function createGatewayMetrics(memory = createCounterMemory()): GatewayMetrics {
  const operations = new Map<string, OutcomeSamples>();
  // By name, so that a gateway that replaces another one continues its counts.
  const requestsOf = new Map<string | undefined, Map<string, Map<string, OutcomeSamples>>>();

  const cacheCounts = createCacheCounts(memory);
  const operationSamples = addOutcomes(memory, {
    counts: {
      name: 'notigraph_operations_total',
      help: 'Operations by the code of their first error. Requests rejected before execution have the type "none".',
    },
    label: 'code',
    durations: { name: 'notigraph_operation_duration_seconds', help: 'Time from the request to the response.' },
  });
  const requestSamples = addOutcomes(memory, {
    counts: {
      name: 'notigraph_upstream_requests_total',
      help: 'Requests to the service by status class or error code.',
    },
    label: 'result',
    durations: {
      name: 'notigraph_upstream_request_duration_seconds',
      help: 'Time from sending a request to the end of the response.',
    },
  });

  function operation({ type, code, status, startedAt }: Parameters<GatewayMetrics['operation']>[0]): void {
    const known = type === 'query' || type === 'mutation' ? type : 'none';
    const samples = samplesOf(operations, known, () => operationSamples({ type: known }));
    samples.add(codeOf(code, status), performance.now() - startedAt);
    memory.save(); // Before the response is sent, so that no answered operation is lost if the process is killed.
  }

  function open(): GatewayMetrics {
    const observed: ObservedUpstream[] = [];
    return {
      operation,
      observerOf(upstream) {
        const labels: Labels = upstream === undefined ? {} : { upstream };
        const requests = requestsOf.get(upstream) ?? new Map<string, Map<string, OutcomeSamples>>();
        requestsOf.set(upstream, requests);
        return {
          ...cacheCounts.observerOf(upstream),
          ended({ method, route }, result, milliseconds) {
            let methods = requests.get(route);
            if (methods === undefined) {
              methods = new Map();
              requests.set(route, methods);
            }
            samplesOf(methods, method, () => requestSamples({ ...labels, method, route })).add(result, milliseconds);
          },
          watch(stateOf) {
            observed.push({ labels, stateOf });
          },
        };
      },
      snapshot() {
        const states = observed.map(({ labels, stateOf }) => [labels, stateOf()] as const);
        return [
          ...memory.snapshot(),
          gauge(
            'notigraph_upstream_calls_waiting',
            'Calls waiting for other calls with the same API key.',
            states.map(([labels, { waiting }]) => [labels, waiting]),
          ),
          gauge(
            'notigraph_circuit_breaker_state',
            'State of the circuit breaker. 0: closed, 1: probing with one call, 2: open.',
            states.map(([labels, { circuit }]) => [labels, CIRCUIT_STATE_VALUES[circuit]]),
            'max',
          ),
        ];
      },
      renew: open,
    };
  }
  return open();
}

/** Returns a known code. Clients can't choose codes, but plugins can, and labels must be a closed set. */
function codeOf(code: unknown, status: number): string {
  if (code === undefined) {
    return status < 400 ? 'OK' : 'OTHER';
  }
  return isErrorCode(code) ? code : 'OTHER';
}
