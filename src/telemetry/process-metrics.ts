import { performance } from 'node:perf_hooks';
import { counter, gauge, type MetricSamples } from './metrics-snapshot.ts';

/** State of a server at one moment. */
export interface ServerLoad {
  /** Requests that have arrived completely and are not answered. */
  running: number;
  /** Open connections. */
  connections: number;
  /** Bytes of requests and responses in memory. */
  bufferedBytes: number;
  /** Reason why requests are shed at present; undefined if they are not. */
  shedding: string | undefined;
  /** Requests that were shed so far. */
  shed: Readonly<Record<string, number>>;
  /** Connections that the server closed so far because of their clients. */
  closed: Readonly<Record<string, number>>;
}

/** What `process` says of itself. */
export type ProcessUsage = Pick<NodeJS.Process, 'cpuUsage' | 'memoryUsage' | 'version'>;

/**
 * The figures of a process that serves: its server's, and the process's own under their usual names. prom-client's `collectDefaultMetrics`
 * has more, but keeps a timer and an observer of garbage collections for good.
 */
export function processSnapshot(load: ServerLoad, usage: ProcessUsage): MetricSamples[] {
  const { running, connections, bufferedBytes, shedding, shed, closed } = load;
  const cpu = usage.cpuUsage();
  const memory = usage.memoryUsage();
  return [
    gauge('notigraph_requests_running', 'Requests that run.', running),
    gauge('notigraph_connections', 'Open connections of clients.', connections),
    gauge('notigraph_buffered_bytes', 'Bytes of requests and responses in memory.', bufferedBytes),
    counter(
      'notigraph_closed_connections_total',
      'Connections that were closed because of their clients.',
      Object.entries(closed).map(([reason, count]) => [{ reason }, count]),
    ),
    gauge(
      'notigraph_shedding',
      'Whether requests are shed, and why; of several processes, how many of them shed.',
      Object.keys(shed).map((reason) => [{ reason }, Number(reason === shedding)]),
    ),
    counter(
      'notigraph_shed_requests_total',
      'Requests that were refused with 503 before they were read.',
      Object.entries(shed).map(([reason, count]) => [{ reason }, count]),
    ),
    counter('process_cpu_user_seconds_total', 'User CPU time.', [[{}, cpu.user / 1e6]]),
    counter('process_cpu_system_seconds_total', 'System CPU time.', [[{}, cpu.system / 1e6]]),
    counter('process_cpu_seconds_total', 'User and system CPU time.', [[{}, (cpu.user + cpu.system) / 1e6]]),
    gauge('process_start_time_seconds', 'Unix time of the start.', performance.timeOrigin / 1_000, 'min'),
    gauge('process_resident_memory_bytes', 'Resident memory.', memory.rss),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', memory.heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'What of the heap is in use.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'Memory outside of the heap that objects in it hold.', memory.external),
    counter('nodejs_eventloop_active_seconds_total', 'Time in which the event loop was not idle.', [
      [{}, performance.eventLoopUtilization().active / 1_000],
    ]),
    gauge('nodejs_version_info', 'The version of Node.', [[{ version: usage.version }, 1]], 'first'),
  ];
}
