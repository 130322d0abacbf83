// Adds the counters of workers that have ended to those of others.

import type { MetricSamples } from '../../../../src/telemetry/metrics.ts';

/** Returns the sums of two lists of counters and histograms, by metric and labels. */
export function addCounters(a: readonly MetricSamples[], b: readonly MetricSamples[]): MetricSamples[] {
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
