import type { Logger } from 'pino';
import type { ReportDeviation } from '../upstream/contract/drift.ts';
import type { AccessLogEntry } from './access-log.ts';
import { createAuditCounts } from './audit-log.ts';
import { type Cell, Counters } from './counters.ts';
import { GatewayMetrics } from './gateway-metrics.ts';

/** Creates the counts of the first gateway, which those that replace it continue. */
export function createCounts(logger: Logger) {
  const counters = new Counters();
  return {
    metrics: new GatewayMetrics(counters),
    deviationReporterOf: createDeviationReports(logger, counters),
    countClient: createClientCounts(counters),
    deprecated: createDeprecatedCounts(counters),
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
  const addCount = counters.addFamily({
    name: 'notigraph_client_operations_total',
    help: 'Operations by the name and version that the client gave itself.',
    type: 'counter',
  });
  const none = addCount({ client: NONE, version: NONE });
  const other = addCount({ client: OTHER, version: OTHER });
  const counts = new Map<string, Map<string, Cell>>();
  let clients = 0;

  function addClient(client: string, version: string): Cell {
    const versions = counts.get(client) ?? new Map<string, Cell>();
    const count = addCount({ client, version });
    counts.set(client, versions.set(version, count));
    clients += 1;
    return count;
  }

  function countOf(entry: ClientEntry): Cell {
    const { client, clientVersion: version = NONE } = entry;
    if (client === undefined) {
      return none;
    }
    const isNew = clients < MAX_CLIENTS && isAuthenticated(entry);
    return counts.get(client)?.get(version) ?? (isNew ? addClient(client, version) : other);
  }

  return (entry) => {
    if (entry.type !== undefined) {
      countOf(entry).value += 1;
    }
  };
}

/**
 * Whether the caller's credential is verified, so that others can't fill the counts with made-up names. An API key is verified only once
 * the service has accepted it.
 */
const isAuthenticated = ({ identity, resolverCalls, code }: ClientEntry): boolean =>
  identity?.clientKind === 'browser' || (identity?.clientKind === 'server' && resolverCalls > 0 && code === undefined);

/** Counts of operations that use deprecated elements of the schema. */
export interface DeprecatedCounts {
  /** Adds elements without counting them. */
  declare(coordinates: readonly string[]): void;
  /** Counts an operation that uses the elements. */
  add(coordinates: readonly string[]): void;
}

/** Maximum number of elements with a count, because a plugin can replace the schema any number of times. */
const MAX_ELEMENTS = 1_000;

const FAMILY = {
  name: 'notigraph_deprecated_fields_total',
  help: 'Operations that use a deprecated field, argument, input field or enum value.',
  type: 'counter',
} as const;

/** Creates the counts of deprecated elements. The metric is absent as long as no element is deprecated. */
function createDeprecatedCounts(counters: Counters): DeprecatedCounts {
  let addCount: ReturnType<Counters['addFamily']> | undefined;
  const counts = new Map<string, Cell>();

  const increase = (coordinates: readonly string[], by: 0 | 1) => {
    for (const coordinate of coordinates) {
      let count = counts.get(coordinate);
      if (count === undefined && counts.size < MAX_ELEMENTS) {
        addCount ??= counters.addFamily(FAMILY);
        count = addCount({ field: coordinate });
        counts.set(coordinate, count);
      }
      if (count !== undefined) {
        count.value += by;
      }
    }
  };

  return {
    declare: (coordinates) => increase(coordinates, 0),
    add: (coordinates) => increase(coordinates, 1),
  };
}

/** Maximum number of places with their own count and log line. A service that sends other bodies altogether could have any number. */
const MAX_PLACES = 200;

/** Path of all further places. No field has this name. */
const OTHER_PATHS = '(other)';

/**
 * Creates a function that returns the reporter of an upstream, which counts deviations from the contract, and logs each one that is the first of its kind
 * at its place. With a name, the metric of the upstream has the label `upstream`.
 */
function createDeviationReports(logger: Logger, counters: Counters): (upstream: string | undefined) => ReportDeviation {
  const addCount = counters.addFamily({
    name: 'notigraph_upstream_deviations_total',
    help: 'Inspected responses of the service that deviate from the contract, by place and kind.',
    type: 'counter',
  });
  const counts = new Map<string, Cell>();
  let places = 0;

  return (upstream) => (endpoint, deviation) => {
    const { method, route } = endpoint;
    const { kind } = deviation;
    const keyOf = (path: string) => [upstream, method, route, kind, path].join(' ');
    const isKnown = counts.has(keyOf(deviation.path));
    const path = isKnown || places < MAX_PLACES ? deviation.path : OTHER_PATHS;
    let count = counts.get(keyOf(path));
    if (count === undefined) {
      const labels = { ...(upstream !== undefined && { upstream }), method, route, path, kind };
      count = addCount(labels);
      counts.set(keyOf(path), count);
      places += path === OTHER_PATHS ? 0 : 1;
      logger.warn(
        labels,
        'a response of the service deviates from the contract; operations that do not use the field are unaffected',
      );
    }
    count.value += 1;
  };
}
