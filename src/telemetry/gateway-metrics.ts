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
import { type Cell, Counters, type Family } from './counters.ts';
import { counter, gauge, type Labels, type MetricSamples } from './metrics-snapshot.ts';

/** Values of the circuit breaker metric. */
const CIRCUIT_STATE_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, probing: 1, open: 2 };

/**
 * Metrics of a gateway, and of the gateways that replace it. They are plain numbers that are converted for each scrape, because the counters and
 * histograms of prom-client would cost 1 µs per operation with one call.
 */
export class GatewayMetrics {
  /** Returns the current values. */
  readonly snapshot: () => MetricSamples[];
  /** Returns the metrics of an upstream. With a name, they have the label `upstream`. */
  readonly metricsOf: (upstream: string | undefined) => UpstreamMetrics;
  readonly #operations = new Map<string, OutcomeSamples>();
  readonly #addOperations: (labels: Labels) => OutcomeSamples;

  /** @param counters counters to which other parts of the gateway may have added theirs */
  constructor(counters = new Counters()) {
    this.snapshot = () => counters.snapshot();
    const families = addCacheFamilies(counters);
    this.#addOperations = addOutcomes(
      counters,
      'code',
      {
        name: 'notigraph_operations_total',
        help: 'Operations by the code of their first error. Requests rejected before execution have the type "none".',
      },
      { name: 'notigraph_operation_duration_seconds', help: 'Time from the request to the response.' },
    );
    const addRequests = addOutcomes(
      counters,
      'result',
      { name: 'notigraph_upstream_requests_total', help: 'Requests to the service by status class or error code.' },
      {
        name: 'notigraph_upstream_request_duration_seconds',
        help: 'Time from sending a request to the end of the response.',
      },
    );
    const upstreams = new Map<string | undefined, UpstreamMetrics>();
    this.metricsOf = (upstream) =>
      entryOf(upstreams, upstream, () => new UpstreamMetrics(families, addRequests, labelsOf(upstream)));
  }

  /** Counts an operation or a rejected request. Called with the response. */
  operation({ type, code, status, startedAt }: Pick<AccessLogEntry, 'type' | 'code' | 'status' | 'startedAt'>): void {
    const label = type === 'query' || type === 'mutation' ? type : 'none';
    const samples = entryOf(this.#operations, label, () => this.#addOperations({ type: label }));
    samples.add(codeOf(code, status), performance.now() - startedAt);
  }
}

/** Metrics of one upstream. */
export class UpstreamMetrics {
  readonly #families: ReturnType<typeof addCacheFamilies>;
  readonly #addRequests: (labels: Labels) => OutcomeSamples;
  readonly #labels: Labels;
  readonly #requests = new Map<string, Map<string, OutcomeSamples>>();
  readonly #reads: Record<string, Counts<CachedReadResult>> = {};
  readonly #staleAges: Counts<string> = {};
  readonly #invalidations: Counts<InvalidationReason> = {};

  constructor(
    families: ReturnType<typeof addCacheFamilies>,
    addRequests: (labels: Labels) => OutcomeSamples,
    labels: Labels,
  ) {
    this.#families = families;
    this.#addRequests = addRequests;
    this.#labels = labels;
  }

  /** Counts a request that has ended. Every retry is a request. */
  requestEnded({ method, route }: Endpoint, outcome: Outcome, milliseconds: number): void {
    const methods = entryOf(this.#requests, route, () => new Map<string, OutcomeSamples>());
    const samples = entryOf(methods, method, () => this.#addRequests({ ...this.#labels, method, route }));
    samples.add(resultOf(outcome), milliseconds);
  }

  /** Counts a read that can be cached, with the age of the stored response that answered it. */
  cachedRead(resource: string, result: CachedReadResult, ageMs = 0): void {
    this.#reads[resource] ??= {};
    const counts = this.#reads[resource];
    counts[result] ??= this.#families.addRead({ ...this.#labels, resource, result });
    counts[result].value += 1;
    if (result === 'stale') {
      this.#staleAges[resource] ??= this.#families.addStaleAge({ ...this.#labels, resource });
      this.#staleAges[resource].value += ageMs / 1_000;
    }
  }

  /** Counts that stored responses are no longer used. */
  invalidated(reason: InvalidationReason): void {
    this.#invalidations[reason] ??= this.#families.addInvalidation({ ...this.#labels, reason });
    this.#invalidations[reason].value += 1;
  }
}

/** Returns a known code. Clients can't choose codes, but plugins can, and labels must be a closed set. */
function codeOf(code: unknown, status: number): string {
  if (code === undefined) {
    return status < 400 ? 'OK' : 'OTHER';
  }
  return isErrorCode(code) ? code : 'OTHER';
}

/** Counts and durations of outcomes with the same labels. */
interface OutcomeSamples {
  /** Counts an outcome. */
  add(outcome: string, milliseconds: number): void;
}

/** Upper bounds of the buckets, in seconds. The last one is the default timeout of operations. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/**
 * Adds the metrics of outcomes.
 *
 * @param label label of the counts that tells the outcome
 * @param counts number of outcomes
 * @param durations durations of all outcomes
 * @returns creates the samples of outcomes with some labels
 */
function addOutcomes(
  counters: Counters,
  label: string,
  counts: Omit<Family, 'type'>,
  durations: Omit<Family, 'type'>,
): (labels: Labels) => OutcomeSamples {
  const addCount = counters.addFamily({ ...counts, type: 'counter' });
  const addDuration = counters.addFamily({ ...durations, type: 'histogram' });

  return (labels) => {
    const outcomes = new Map<string, Cell>();
    const buckets = BOUNDS.map((le) => ({ le, bucket: addDuration({ le, ...labels }, `${durations.name}_bucket`) }));
    const infinite = addDuration({ le: '+Inf', ...labels }, `${durations.name}_bucket`);
    const count = addDuration(labels, `${durations.name}_count`);
    const sum = addDuration(labels, `${durations.name}_sum`);

    return {
      add(outcome, milliseconds) {
        let total = outcomes.get(outcome);
        if (total === undefined) {
          total = addCount({ ...labels, [label]: outcome });
          outcomes.set(outcome, total);
        }
        total.value += 1;
        const seconds = milliseconds / 1_000;
        for (const { le, bucket } of buckets) {
          if (seconds <= le) {
            bucket.value += 1;
          }
        }
        infinite.value += 1;
        count.value += 1;
        sum.value += seconds;
      },
    };
  };
}

/** Returns the entry of a key. Creates it if there is none. */
function entryOf<Key, Entry>(entries: Map<Key, Entry>, key: Key, create: () => Entry): Entry {
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = create();
    entries.set(key, entry);
  }
  return entry;
}

/** Counts that are added when they are first needed. */
type Counts<Key extends string> = Partial<Record<Key, Cell>>;

/** Adds the metrics of caches. */
const addCacheFamilies = (counters: Counters) => ({
  addRead: counters.addFamily({
    name: 'notigraph_cache_reads_total',
    help: 'Reads that can be cached, by the answer: from the cache (fresh, revalidating, stale) or the service (miss, bypass, unavailable).',
    type: 'counter',
  }),
  addStaleAge: counters.addFamily({
    name: 'notigraph_cache_stale_seconds_total',
    help: 'Sum of the ages of stored responses that were used because the service failed.',
    type: 'counter',
  }),
  addInvalidation: counters.addFamily({
    name: 'notigraph_cache_invalidations_total',
    help: 'Times that stored responses became unusable because of a write or a rejected key.',
    type: 'counter',
  }),
});

/** Returns the label of a request's result: the class of its status, or the code of its failure. */
function resultOf(outcome: Outcome): string {
  if (!isUpstreamError(outcome)) {
    return '2xx';
  }
  const { status = 0, code, isForeign } = outcome;
  return isForeign || status < 400 ? code : status >= 500 ? '5xx' : '4xx';
}

const labelsOf = (upstream: string | undefined): Labels => (upstream === undefined ? {} : { upstream });

/** Returns the samples of the services, by the names of their upstreams. */
export const serviceSamples = (states: readonly (readonly [upstream: string | undefined, ServiceState])[]) => [
  gauge(
    'notigraph_upstream_calls_waiting',
    'Calls waiting for other calls with the same API key.',
    states.map(([upstream, { waiting }]) => [labelsOf(upstream), waiting]),
  ),
  gauge(
    'notigraph_circuit_breaker_state',
    'State of the circuit breaker. 0: closed, 1: half-open, one call is or will be sent as a probe, 2: open.',
    states.map(([upstream, { circuit }]) => [labelsOf(upstream), CIRCUIT_STATE_VALUES[circuit]]),
    'max',
  ),
];

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
