import type { CachedResource } from '../settings/cache.ts';
import { isErrorCode } from '../settings/error-codes.ts';
import type { StoreStats } from '../upstream/cache/store.ts';
import type {
  CachedReadResult,
  CircuitState,
  InvalidationReason,
  Outcome,
  ServiceState,
} from '../upstream/call-events.ts';
import { type Endpoint, isUpstreamError } from '../upstream/errors.ts';
import type { AccessLogEntry } from './access-log.ts';
import { type CounterMemory, createCounterMemory, type Family } from './counter-memory.ts';
import { counter, gauge, type Labels, type MetricSamples } from './metrics-snapshot.ts';

/** Metrics of one upstream. */
export interface UpstreamMetrics extends CacheMetrics {
  /** Counts a request that has ended. Every retry is a request. */
  requestEnded(endpoint: Endpoint, outcome: Outcome, milliseconds: number): void;
}

/** Metrics of a cache. */
interface CacheMetrics {
  /** Counts a read that can be cached, with the age of the stored response that answered it. */
  cachedRead(resource: CachedResource, result: CachedReadResult, ageMs?: number): void;
  /** Counts that stored responses are no longer used. */
  invalidated(reason: InvalidationReason): void;
}

/** Metrics of a gateway. */
export interface GatewayMetrics {
  /** Counts an operation or a rejected request. Called with the response. */
  operation(entry: Pick<AccessLogEntry, 'type' | 'code' | 'status' | 'startedAt'>): void;
  /** Returns the metrics of an upstream. With a name, they have the label `upstream`. */
  metricsOf(upstream: string | undefined): UpstreamMetrics;
  /** Adds the state of an upstream's service to the metrics. */
  watch(upstream: string | undefined, stateOf: () => ServiceState): void;
  /** Returns the current values. */
  snapshot(): MetricSamples[];
  /** Returns the metrics of a gateway that replaces this one. They continue its counts, but have the states of its own upstreams only. */
  renew(): GatewayMetrics;
}

/** Counts of one upstream. */
interface ObservedUpstream {
  /** Its name, unless it is the only one. */
  labels: Labels;
  stateOf(): ServiceState;
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
  const upstreams = new Map<string | undefined, UpstreamMetrics>();

  const createCacheMetrics = addCacheMetrics(memory);
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

  function createUpstreamMetrics(upstream: string | undefined): UpstreamMetrics {
    const labels = labelsOf(upstream);
    const requests = new Map<string, Map<string, OutcomeSamples>>();
    return {
      ...createCacheMetrics(labels),
      requestEnded({ method, route }, outcome, milliseconds) {
        let methods = requests.get(route);
        if (methods === undefined) {
          methods = new Map();
          requests.set(route, methods);
        }
        const samples = samplesOf(methods, method, () => requestSamples({ ...labels, method, route }));
        samples.add(resultOf(outcome), milliseconds);
      },
    };
  }

  function open(): GatewayMetrics {
    const observed: ObservedUpstream[] = [];
    return {
      operation,
      metricsOf: (upstream) => {
        let metrics = upstreams.get(upstream);
        if (metrics === undefined) {
          metrics = createUpstreamMetrics(upstream);
          upstreams.set(upstream, metrics);
        }
        return metrics;
      },
      watch(upstream, stateOf) {
        observed.push({ labels: labelsOf(upstream), stateOf });
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

/** Counts and durations of outcomes with the same labels. */
export interface OutcomeSamples {
  /** Counts an outcome. */
  add(outcome: string, milliseconds: number): void;
}

/** Metrics of outcomes. */
interface OutcomeMetrics {
  /** Number of outcomes. */
  counts: Omit<Family, 'type'>;
  /** Label of the counts that tells the outcome. */
  label: string;
  /** Durations of all outcomes. */
  durations: Omit<Family, 'type'>;
}

/** Upper bounds of the buckets, in seconds. The last one is the default timeout of operations. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Adds the metrics of outcomes to a memory. Returns a function that creates the samples of outcomes with some labels. */
export function addOutcomes(memory: CounterMemory, { counts, label, durations }: OutcomeMetrics) {
  const addCount = memory.addFamily({ ...counts, type: 'counter' });
  const addDuration = memory.addFamily({ ...durations, type: 'histogram' });

  return (labels: Labels): OutcomeSamples => {
    const positions = new Map<string, number>();
    const buckets = BOUNDS.map((le) => addDuration({ le, ...labels }, `${durations.name}_bucket`));
    const infinite = addDuration({ le: '+Inf', ...labels }, `${durations.name}_bucket`);
    const count = addDuration(labels, `${durations.name}_count`); // Next to the last bucket, which has the same value.
    const sum = addDuration(labels, `${durations.name}_sum`);

    return {
      add(outcome, milliseconds) {
        let position = positions.get(outcome);
        if (position === undefined) {
          position = addCount({ ...labels, [label]: outcome });
          positions.set(outcome, position);
        }
        memory.increase(position, 1);
        const seconds = milliseconds / 1_000;
        let bucket = 0;
        while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) {
          bucket += 1;
        }
        memory.count(buckets[bucket] ?? infinite, count);
        memory.increase(sum, seconds);
      },
    };
  };
}

/** Returns the samples of a key. Creates them if there are none. */
export function samplesOf<Key>(all: Map<Key, OutcomeSamples>, key: Key, create: () => OutcomeSamples): OutcomeSamples {
  let samples = all.get(key);
  if (samples === undefined) {
    samples = create();
    all.set(key, samples);
  }
  return samples;
}

/** Positions of counts in the memory, which are added when they are first needed. */
type Positions<Key extends string> = Partial<Record<Key, number>>;

/** Adds the metrics of caches to a memory. Returns a function that creates those of one cache. */
function addCacheMetrics(memory: CounterMemory): (labels: Labels) => CacheMetrics {
  const addRead = memory.addFamily({
    name: 'notigraph_cache_reads_total',
    help: 'Reads that can be cached, by the answer: from the cache (fresh, revalidating, stale) or the service (miss, bypass, unavailable).',
    type: 'counter',
  });
  const addStaleAge = memory.addFamily({
    name: 'notigraph_cache_stale_seconds_total',
    help: 'Sum of the ages of stored responses that were used because the service failed.',
    type: 'counter',
  });
  const addInvalidation = memory.addFamily({
    name: 'notigraph_cache_invalidations_total',
    help: 'Times that stored responses became unusable because of a write or a rejected key.',
    type: 'counter',
  });
  return (labels) => {
    const reads: Partial<Record<CachedResource, Positions<CachedReadResult>>> = {};
    const staleAges: Positions<CachedResource> = {};
    const invalidations: Positions<InvalidationReason> = {};
    return {
      cachedRead(resource, result, ageMs = 0) {
        reads[resource] ??= {};
        const positions = reads[resource];
        positions[result] ??= addRead({ ...labels, resource, result });
        memory.increase(positions[result], 1);
        if (result === 'stale') {
          staleAges[resource] ??= addStaleAge({ ...labels, resource });
          memory.increase(staleAges[resource], ageMs / 1_000);
        }
      },
      invalidated(reason) {
        invalidations[reason] ??= addInvalidation({ ...labels, reason });
        memory.increase(invalidations[reason], 1);
      },
    };
  };
}

/** Returns the label of a request's result: the class of its status, or the code of its failure. */
function resultOf(outcome: Outcome): string {
  if (!isUpstreamError(outcome)) {
    return '2xx';
  }
  const { status = 0, code } = outcome;
  return status >= 500 ? '5xx' : status >= 400 ? '4xx' : code;
}

const labelsOf = (upstream: string | undefined): Labels => (upstream === undefined ? {} : { upstream });

/** Returns the samples of the cache's store; none without a cache. */
export function cacheSamples(stats: StoreStats | undefined): MetricSamples[] {
  if (stats === undefined) {
    return [];
  }
  const { entries, bytes, evictions, problem } = stats;
  return [
    ...(entries === undefined
      ? [
          gauge(
            'notigraph_cache_store_up',
            'Whether Redis, which holds the cache, works.',
            problem === undefined ? 1 : 0,
            'min',
          ),
        ]
      : [gauge('notigraph_cache_entries', 'Stored responses in memory.', entries)]),
    ...(bytes === undefined
      ? []
      : [gauge('notigraph_cache_bytes', 'Size of the stored responses on the heap.', bytes)]),
    ...(evictions === undefined
      ? []
      : [
          counter('notigraph_cache_evictions_total', 'Stored responses that were removed because the store was full.', [
            [{}, evictions],
          ]),
        ]),
  ];
}

/** Returns the samples of a store of rate limits that processes share; none without a store. */
export function rateLimitSamples(store: { isUp: boolean; fallbacks: number } | undefined): MetricSamples[] {
  if (store === undefined) {
    return [];
  }
  const { isUp, fallbacks } = store;
  return [
    gauge(
      'notigraph_rate_limit_store_up',
      'Whether Redis counts rate limits (1), or a process on its own (0).',
      isUp ? 1 : 0,
      'min',
    ),
    counter('notigraph_rate_limit_fallbacks_total', 'Times that a process started to count rate limits on its own.', [
      [{}, fallbacks],
    ]),
  ];
}
