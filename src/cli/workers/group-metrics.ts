import { addCounters, counter, formatMetrics, gauge, type MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import { type ProcessUsage, usageSnapshot } from '../../telemetry/process-metrics.ts';
import type { WorkerProcess } from './fork-worker.ts';
import type { GroupStatus } from './messages.ts';

/** Sources of a group's metrics. */
export interface GroupMetricsOptions {
  running: ReadonlySet<WorkerProcess>;
  status(): GroupStatus;
  /** Returns the workers that accept connections. */
  listening(): readonly WorkerProcess[];
  /** Sources of the metrics of this process. */
  usage: ProcessUsage;
  /** Returns other metrics of this process. */
  others(): MetricSamples[];
}

/** Combines the metrics of all processes, including those that have ended. */
export function createGroupMetrics({ running, status, listening, usage, others }: GroupMetricsOptions) {
  let replaced = 0;
  let endedCounters: MetricSamples[] = [];

  function ownSamples(): MetricSamples[] {
    const { workers, ready } = status();
    return [
      gauge('notigraph_workers', 'Workers that should run.', workers),
      gauge('notigraph_workers_ready', 'Workers that accept requests.', ready),
      gauge(
        'notigraph_worker_connections',
        'Open client connections by the number of the worker.',
        listening().map(({ slot, connections }) => [{ worker: slot }, connections]),
      ),
      counter('notigraph_workers_replaced_total', 'Workers that ended and were replaced.', [[{}, replaced]]),
      ...others(),
      ...usageSnapshot(usage),
    ];
  }

  return {
    /** Counts a worker that is replaced. */
    addReplaced(): void {
      replaced += 1;
    },
    /** Takes over the counters of a worker that has ended. */
    addEnded(worker: WorkerProcess): void {
      endedCounters = addCounters(endedCounters, worker.release());
    },
    /** Returns the metrics in Prometheus' text format. */
    async format(): Promise<string> {
      await Promise.all([...running].map((worker) => worker.fetchSamples()));
      // Read together with `endedCounters`, so that a worker that has just ended is counted once.
      const workers = [...running].map((worker) => worker.samples());
      return formatMetrics([ownSamples(), ...workers, endedCounters]);
    },
  };
}
