// Metrics of a group of workers: those of the processes that run, and the counters of workers that have ended.

import { formatMetrics, type MetricSamples } from '../../../../src/telemetry/metrics.ts';
import type { WorkerProcess } from './fork-worker.ts';

export class GroupMetrics {
  /** Sums of the counters and histograms of workers that have ended. */
  #ended: readonly MetricSamples[] = [];

  /** Keeps the counters of a worker that has ended. */
  add({ state }: WorkerProcess): void {
    const counters = state.samples.filter(({ type }) => type !== 'gauge');
    this.#ended = sumByLabels(this.#ended, counters);
  }

  /**
   * Returns the metrics of all processes, including those that have ended, in Prometheus' text format.
   *
   * @param running workers, as long as they run
   * @param findOwn returns the metrics of the primary
   */
  async format(running: ReadonlySet<WorkerProcess>, findOwn: () => readonly MetricSamples[]): Promise<string> {
    await Promise.all([...running].map((worker) => worker.fetchState()));
    // Read together with the counters of those that have ended, so that one that has just ended is counted once.
    const workers = [...running].map(({ state }) => state.samples);
    return formatMetrics([findOwn(), ...workers, this.#ended]);
  }
}

/** Returns the sums of two lists of counters and histograms, by metric and labels. */
function sumByLabels(a: readonly MetricSamples[], b: readonly MetricSamples[]): MetricSamples[] {
  const sums = new Map(a.map((metric) => [metric.name, metric]));
  for (const metric of b) {
    const values = new Map(sums.get(metric.name)?.values.map((value) => [keyOf(value), value]));
    for (const value of metric.values) {
      const key = keyOf(value);
      values.set(key, { ...value, value: value.value + (values.get(key)?.value ?? 0) });
    }
    sums.set(metric.name, { ...metric, values: [...values.values()] });
  }
  return [...sums.values()];
}

const keyOf = ({ metricName, labels }: MetricSamples['values'][number]): string =>
  JSON.stringify([metricName, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
