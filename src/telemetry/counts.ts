import type { Logger } from 'pino';
import type { ReportDeviation } from '../upstream/contract/drift.ts';
import type { AccessLogEntry } from './access-log.ts';
import { createAuditCounts } from './audit-log.ts';
import { Counters } from './counters.ts';
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
  const help = 'Operations by the name and version that the client gave itself.';
  const countOf = counters.addCounter('notigraph_client_operations_total', help, ['client', 'version']);
  const none = countOf(NONE, NONE);
  const other = countOf(OTHER, OTHER);
  const hasOwnCount = createFirst(MAX_CLIENTS);

  return (entry) => {
    const { type, client, clientVersion = NONE } = entry;
    if (type === undefined) {
      return;
    }
    if (client === undefined) {
      none.value += 1;
    } else {
      const isOwn = hasOwnCount(`${client}\n${clientVersion}`, isAuthenticated(entry));
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

/** Creates the counts of deprecated elements. The metric is absent as long as no element is deprecated. */
function createDeprecatedCounts(counters: Counters): DeprecatedCounts {
  const help = 'Operations that use a deprecated field, argument, input field or enum value.';
  const countOf = counters.addCounter('notigraph_deprecated_fields_total', help, ['field']);
  const hasCount = createFirst(MAX_ELEMENTS);

  const increase = (coordinates: readonly string[], by: 0 | 1) => {
    for (const coordinate of coordinates.filter((each) => hasCount(each))) {
      countOf(coordinate).value += by;
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
  const help = 'Inspected responses of the service that deviate from the contract, by place and kind.';
  const labels = ['upstream', 'method', 'route', 'path', 'kind'];
  const countOf = counters.addCounter('notigraph_upstream_deviations_total', help, labels);
  const hasOwnCount = createFirst(MAX_PLACES);

  return (upstream) => (endpoint, deviation) => {
    const { method, route } = endpoint;
    const { kind, path } = deviation;
    const isOwn = hasOwnCount([upstream, method, route, kind, path].join(' '));
    const count = countOf(upstream, method, route, isOwn ? path : OTHER_PATHS, kind);
    if (count.value === 0) {
      logger.warn(
        count.labels,
        'a response of the service deviates from the contract; operations that do not use the field are unaffected',
      );
    }
    count.value += 1;
  };
}
