// Counts what gateways do: operations, upstream calls, cached reads, clients, deprecated elements and deviations from the contract.

import type { Logger } from 'pino';
import { isVerified } from '../../auth/identity.ts';
import { isErrorCode } from '../../errors/codes.ts';
import type {
  CachedReadResult,
  CircuitState,
  InvalidationReason,
  Outcome,
  ReportDeviation,
  ServiceState,
  SocketStats,
  StoreStats,
} from '../../upstream/calls.ts';
import { type Endpoint, isUpstreamError } from '../../upstream/errors.ts';
import { createAuditCounts } from '../audit-log.ts';
import type { AccessLogEntry, FailedResult } from '../logs/access-log.ts';
import { Counters, counter, fileSamples, gauge, type Labels, type MetricSamples } from '../metrics.ts';

const CIRCUIT_STATE_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, probing: 1, open: 2 };

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/**
 * Creates the metrics of a gateway, and of the gateways that replace it. They are plain numbers that are converted for each scrape, because the counters
 * and histograms of prom-client would cost 1.2 µs more per operation with one call. Upstreams with a name have the label `upstream`.
 *
 * @param counters counters to which other parts of the gateway may have added theirs
 */
export function createGatewayMetrics(counters = new Counters()) {
  const operations = counters.addCounter(
    'notigraph_operations_total',
    'Operations by the code of their first error. Requests rejected before execution have the type "none".',
    ['type', 'code'],
  );
  const durations = counters.addHistogram(
    'notigraph_operation_duration_seconds',
    'Time from the request to the response.',
    ['type'],
  );
  const requests = counters.addCounter(
    'notigraph_upstream_requests_total',
    'Requests to the service by status class or error code.',
    ['upstream', 'method', 'route', 'result'],
  );
  const requestDurations = counters.addHistogram(
    'notigraph_upstream_request_duration_seconds',
    'Time from sending a request to the end of the response.',
    ['upstream', 'method', 'route'],
  );
  const reads = counters.addCounter(
    'notigraph_cache_reads_total',
    'Reads that can be cached, by the answer: from the cache (fresh, revalidating, stale) or the service (miss, bypass, unavailable).',
    ['upstream', 'resource', 'result'],
  );
  const staleSeconds = counters.addCounter(
    'notigraph_cache_stale_seconds_total',
    'Sum of the ages of stored responses that were used because the service failed.',
    ['upstream', 'resource'],
  );
  const invalidations = counters.addCounter(
    'notigraph_cache_invalidations_total',
    'Times that stored responses became unusable because of a write or a rejected key.',
    ['upstream', 'reason'],
  );

  return {
    snapshot: () => counters.snapshot(),
    /** Counts an operation or a rejected request. Called with the response. */
    operation({ type, isExecuted, code, status, ms }: OperationEntry): void {
      const label = isExecuted && (type === 'query' || type === 'mutation') ? type : 'none';
      operations(label, codeOf(code, status)).value += 1;
      durations(label).add(ms);
    },
    /**
     * Counts a request to an upstream that has ended. Every retry is a request.
     *
     * @param usesTenantKey whether it has the configured key of a tenant, and not one of the caller
     */
    requestEnded(
      upstreamName: string | undefined,
      { method, route }: Endpoint,
      outcome: Outcome,
      milliseconds: number,
      usesTenantKey: boolean,
    ): void {
      requests(upstreamName, method, route, resultOf(outcome, usesTenantKey)).value += 1;
      requestDurations(upstreamName, method, route).add(milliseconds);
    },
    /** Counts a read that can be cached, with the age of the stored response that answered it. */
    cachedRead(upstreamName: string | undefined, resource: string, result: CachedReadResult, ageMs = 0): void {
      reads(upstreamName, resource, result).value += 1;
      if (result === 'stale') {
        staleSeconds(upstreamName, resource).value += ageMs / 1_000;
      }
    },
    /** Counts that stored responses are no longer used. */
    invalidated(upstreamName: string | undefined, reason: InvalidationReason): void {
      invalidations(upstreamName, reason).value += 1;
    },
  };
}

type OperationEntry = Pick<AccessLogEntry, 'type' | 'isExecuted' | 'code' | 'status' | 'ms'>;

/** Returns a known code. Clients can't choose codes, but plugins can, and labels must be a closed set. */
function codeOf(code: unknown, status: number): string {
  if (code === undefined) {
    return status < 400 ? 'OK' : 'OTHER';
  }
  return isErrorCode(code) ? code : 'OTHER';
}

/** Returns the label of a request's result: the class of its status, the code of its failure, or that a tenant's key was rejected. */
function resultOf(outcome: Outcome, usesTenantKey: boolean): string {
  if (!isUpstreamError(outcome)) {
    return '2xx';
  }
  const { status = 0, code, isForeign } = outcome;
  if (usesTenantKey && code === 'UNAUTHENTICATED') {
    return 'tenant_key_rejected'; // Clients can't cause it, so it has an alert of its own.
  }
  return isForeign || status < 400 ? code : status >= 500 ? '5xx' : '4xx';
}

const labelsOf = (upstreamName: string | undefined): Labels =>
  upstreamName === undefined ? {} : { upstream: upstreamName };

/** Returns the samples of what a gateway uses: services, files, and the stores of rate limits and the cache, if there are any. */
export const samplesOf = (
  services: Parameters<typeof serviceSamples>[0],
  files: Parameters<typeof fileSamples>[0],
  rateLimits: Parameters<typeof rateLimitSamples>[0],
  cache: StoreStats | undefined,
) => [...serviceSamples(services), ...fileSamples(files), ...rateLimitSamples(rateLimits), ...cacheSamples(cache)];

/** Returns the samples of the services, by the names of their upstreams. */
export function serviceSamples(states: readonly (readonly [upstreamName: string | undefined, ServiceState])[]) {
  const each = (toValue: (state: ServiceState) => number) =>
    states.map(([upstreamName, state]) => [labelsOf(upstreamName), toValue(state)] as const);
  const sockets = (name: keyof SocketStats) => each((state) => state.sockets[name]);
  const calls = each((state) => state.waiting);
  const circuits = each((state) => CIRCUIT_STATE_VALUES[state.circuit]);
  const circuit =
    'State of the circuit breaker. 0: closed, 1: half-open, one call is or will be sent as a probe, 2: open.';
  return [
    gauge('notigraph_upstream_calls_waiting', 'Calls waiting for other calls with the same API key.', calls),
    gauge('notigraph_upstream_sockets_open', 'Connections to the service.', sockets('open')),
    gauge('notigraph_upstream_sockets_free', 'Requests that could be sent at once.', sockets('free')),
    gauge('notigraph_upstream_requests_waiting', 'Requests waiting for a connection.', sockets('waiting')),
    gauge('notigraph_circuit_breaker_state', circuit, circuits, 'max'),
  ];
}

/** Returns the samples of the cache's store; none without a cache. */
function cacheSamples(stats: StoreStats | undefined): MetricSamples[] {
  if (stats === undefined) {
    return [];
  }
  const { entries, bytes = 0, evictions = 0, problem } = stats;
  if (entries === undefined) {
    const up = problem === undefined ? 1 : 0;
    return [gauge('notigraph_cache_store_up', 'Whether Redis, which holds the cache, works.', up, 'min')];
  }
  const removed = 'Stored responses that were removed because the store was full.';
  return [
    gauge('notigraph_cache_entries', 'Stored responses in memory.', entries),
    gauge('notigraph_cache_bytes', 'Size of the stored responses on the heap.', bytes),
    counter('notigraph_cache_evictions_total', removed, evictions),
  ];
}

/** Returns the samples of a store of rate limits that processes share; none without a store. */
function rateLimitSamples(store: { isUp: boolean; fallbacks: number } | undefined): MetricSamples[] {
  if (store === undefined) {
    return [];
  }
  const { isUp, fallbacks } = store;
  const up = 'Whether Redis counts rate limits (1), or a process on its own (0).';
  const fallback = 'Times that a process started to count rate limits on its own.';
  return [
    gauge('notigraph_rate_limit_store_up', up, isUp ? 1 : 0, 'min'),
    counter('notigraph_rate_limit_fallbacks_total', fallback, fallbacks),
  ];
}

/** Creates the counts of the first gateway, which those that replace it continue. */
export function createCounts(logger: Logger) {
  const counters = new Counters();
  return {
    metrics: createGatewayMetrics(counters),
    deviationReporterOf: createDeviationReports(logger, counters),
    countClient: createClientCounts(counters),
    deprecated: createDeprecatedCounts(counters),
    countResult: createResultCounts(counters),
    countAuditLine: createAuditCounts(counters),
  };
}

type ClientEntry = Pick<AccessLogEntry, 'type' | 'code' | 'resolverCalls' | 'identity' | 'client' | 'clientVersion'>;

/** Maximum number of clients with their own count. Each version of an app is a client. */
const MAX_CLIENTS = 100;

/** Label of operations without a name or version. Names of clients can't contain parentheses. */
const NONE = '(none)';

/** Label of the operations of all clients without their own count. */
const OTHER = '(other)';

/** Creates a function that counts operations by the client that sent them. Requests rejected before they are an operation are not counted. */
function createClientCounts(counters: Counters): (entry: ClientEntry) => void {
  const help = 'Operations by the name and version that the client gave itself.';
  const countOf = counters.addCounter('notigraph_client_operations_total', help, ['client', 'version']);
  const none = countOf(NONE, NONE);
  const other = countOf(OTHER, OTHER);
  const hasOwnCount = createFirst(MAX_CLIENTS);

  return (entry) => {
    const { type, client, clientVersion = NONE, identity, resolverCalls, code } = entry;
    if (type === undefined) {
      return;
    }
    if (client === undefined) {
      none.value += 1;
    } else {
      const mayAdd = isVerified(identity, resolverCalls, code !== undefined);
      const isOwn = hasOwnCount(`${client}\n${clientVersion}`, mayAdd);
      (isOwn ? countOf(client, clientVersion) : other).value += 1;
    }
  };
}

/** Returns a function that tells whether a key is one of the first that it got and that may be added. */
function createFirst(max: number): (key: string, mayAdd?: boolean) => boolean {
  const keys = new Set<string>();
  return (key, mayAdd = true) => {
    if (mayAdd && keys.size < max) {
      keys.add(key);
    }
    return keys.has(key);
  };
}

/** Creates a function that counts a failure that a mutation returned as data. Modules and plugins could have any number of fields and kinds. */
function createResultCounts(counters: Counters): (result: FailedResult) => void {
  const help = 'Failures that mutations returned as data, also of single items and events, by field and kind.';
  const countOf = counters.addCounter('notigraph_mutation_failures_total', help, ['field', 'kind']);
  const hasOwnCount = createFirst(MAX_ELEMENTS);
  return (result) => {
    countOf(...(hasOwnCount(result.join(' ')) ? result : [OTHER, OTHER])).value += 1;
  };
}

/** Maximum number of elements of the schema with a count, because a plugin can replace the schema any number of times. */
const MAX_ELEMENTS = 1_000;

/** Creates the counts of deprecated elements. The metric is absent as long as no element is deprecated. */
function createDeprecatedCounts(counters: Counters) {
  const help = 'Operations that use a deprecated field, argument, input field or enum value.';
  const countOf = counters.addCounter('notigraph_deprecated_fields_total', help, ['field']);
  const hasCount = createFirst(MAX_ELEMENTS);

  const increase = (coordinates: readonly string[], by: 0 | 1) => {
    for (const coordinate of coordinates.filter((each) => hasCount(each))) {
      countOf(coordinate).value += by;
    }
  };

  return {
    /** Adds elements without counting them. */
    declare: (coordinates: readonly string[]) => increase(coordinates, 0),
    /** Counts an operation that uses the elements. */
    add: (coordinates: readonly string[]) => increase(coordinates, 1),
  };
}

/** Maximum number of places with their own count and log line. A service that sends other bodies altogether could have any number. */
const MAX_PLACES = 200;

/**
 * Creates a function that returns the reporter of an upstream, which counts deviations from the contract, and logs each one that is the first of its kind
 * at its place. With a name, the metric of the upstream has the label `upstream`.
 */
function createDeviationReports(logger: Logger, counters: Counters) {
  const help = 'Inspected responses of the service that deviate from the contract, by place and kind.';
  const labels = ['upstream', 'method', 'route', 'path', 'kind'];
  const countOf = counters.addCounter('notigraph_upstream_deviations_total', help, labels);
  const hasOwnCount = createFirst(MAX_PLACES);

  return (upstreamName: string | undefined): ReportDeviation =>
    ({ method, route }, { kind, path }) => {
      const isOwn = hasOwnCount([upstreamName, method, route, kind, path].join(' '));
      const count = countOf(upstreamName, method, route, isOwn ? path : OTHER, kind);
      if (count.value === 0) {
        logger.warn(
          count.labels,
          'a response of the service deviates from the contract; operations that do not use the field are unaffected',
        );
      }
      count.value += 1;
    };
}
