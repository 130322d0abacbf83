import type { MetricSamples, MetricValue } from './metrics-snapshot.ts';

/** Returns the counters and histograms. Gauges of a process that has ended have no meaning. */
export const onlyCounters = (samples: readonly MetricSamples[]): MetricSamples[] =>
  samples.filter(({ type }) => type !== 'gauge');

/** Adds counters to others, value by value. */
export const addCounters = (a: readonly MetricSamples[], b: readonly MetricSamples[]): MetricSamples[] =>
  combine(a, b, (x, y) => x + y);

/** Returns the larger one of each value. Counters only increase, so it is the newer one. */
export const newerCounters = (a: readonly MetricSamples[], b: readonly MetricSamples[]): MetricSamples[] =>
  combine(a, b, Math.max);

function combine(
  a: readonly MetricSamples[],
  b: readonly MetricSamples[],
  operation: (x: number, y: number) => number,
): MetricSamples[] {
  const result = new Map(a.map((metric) => [metric.name, metric]));
  for (const metric of b) {
    const other = result.get(metric.name);
    result.set(
      metric.name,
      other === undefined ? metric : { ...metric, values: combineValues(other, metric, operation) },
    );
  }
  return [...result.values()];
}

function combineValues(a: MetricSamples, b: MetricSamples, operation: (x: number, y: number) => number): MetricValue[] {
  const values = new Map(a.values.map((value) => [keyOf(value), value]));
  for (const value of b.values) {
    const key = keyOf(value);
    const other = values.get(key);
    values.set(key, other === undefined ? value : { ...value, value: operation(other.value, value.value) });
  }
  return [...values.values()];
}

const keyOf = ({ metricName, labels }: MetricValue): string =>
  JSON.stringify([metricName, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
