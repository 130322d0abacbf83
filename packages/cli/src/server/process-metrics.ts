// Measures the process: its load, CPU time and memory.

import { performance } from 'node:perf_hooks';
import { VERSION } from '../../../../src/lib/installation.ts';
import { counter, gauge, type MetricSamples } from '../../../../src/telemetry/metrics.ts';

export interface ServerLoad {
  /** Number of requests that were received in full and have no complete response yet. */
  running: number;
  connections: number;
  /** Bytes of requests and responses in memory. */
  bufferedBytes: number;
  /** Reason for currently shedding requests; undefined if requests are accepted. */
  shedding: string | undefined;
  /** Number of requests that were shed, by reason. */
  shed: Readonly<Record<string, number>>;
  /** Number of connections that the server closed, by reason. */
  closed: Readonly<Record<string, number>>;
}

/** Sources of process metrics, which `process` implements. */
export type ProcessUsage = Pick<NodeJS.Process, 'cpuUsage' | 'memoryUsage' | 'version'>;

export function processSnapshot(load: ServerLoad, usage: ProcessUsage): MetricSamples[] {
  const { running, connections, bufferedBytes, shedding, shed, closed } = load;
  return [
    gauge('notigraph_build_info', 'Version of Notigraph.', [[{ version: VERSION }, 1]], 'first'),
    gauge('notigraph_requests_running', 'Requests received in full and not yet answered.', running),
    gauge('notigraph_connections', 'Open client connections.', connections),
    gauge('notigraph_buffered_bytes', 'Bytes of requests and responses in memory.', bufferedBytes),
    counter('notigraph_closed_connections_total', 'Client connections closed by the gateway.', byReason(closed)),
    gauge(
      'notigraph_shedding',
      'Number of processes that currently shed requests, by reason.',
      Object.keys(shed).map((reason) => [{ reason }, Number(reason === shedding)]),
    ),
    counter('notigraph_shed_requests_total', 'Requests rejected with 503 before they were read.', byReason(shed)),
    ...usageSnapshot(usage),
  ];
}

const byReason = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([reason, count]) => [{ reason }, count] as const);

/**
 * Returns the metrics of a process, which have their usual names. prom-client's `collectDefaultMetrics` is not used, because it permanently
 * keeps a timer and an observer of garbage collections.
 */
export function usageSnapshot(usage: ProcessUsage): MetricSamples[] {
  const cpu = usage.cpuUsage();
  const memory = usage.memoryUsage();
  return [
    counter('process_cpu_user_seconds_total', 'User CPU time.', cpu.user / 1e6),
    counter('process_cpu_system_seconds_total', 'System CPU time.', cpu.system / 1e6),
    counter('process_cpu_seconds_total', 'User and system CPU time.', (cpu.user + cpu.system) / 1e6),
    gauge(
      'process_start_time_seconds',
      'Start time, in seconds since the Unix epoch.',
      performance.timeOrigin / 1_000,
      'min',
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size.', memory.rss),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', memory.heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'Used size of the heap.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'Memory outside the heap that belongs to objects in it.', memory.external),
    counter(
      'nodejs_eventloop_active_seconds_total',
      'Time in which the event loop was not idle.',
      performance.eventLoopUtilization().active / 1_000,
    ),
    gauge('nodejs_version_info', 'Node.js version.', [[{ version: usage.version }, 1]], 'first'),
  ];
}
