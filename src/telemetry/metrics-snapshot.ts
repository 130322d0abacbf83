/** Current values of one metric, in the JSON format of prom-client, so that they can be sent to another process. */
export interface MetricSamples {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Function that combines the values of several processes. */
  aggregator: 'sum' | 'max' | 'min' | 'first';
  values: readonly MetricValue[];
}

/** Value of a metric with its labels. */
export interface MetricValue {
  value: number;
  labels: Labels;
  /** Name of a part of a histogram. @default the metric's name */
  metricName?: string;
}

/** Labels of a value. They must be closed sets: nothing sent by a client may become a label. */
export type Labels = Readonly<Record<string, string | number>>;

/** Value with its labels. */
export type Labelled<T> = readonly [labels: Labels, value: T];

/** Returns a function that creates the samples of a metric: of one value, or of several with their labels. */
const samplesOf =
  (type: 'counter' | 'gauge') =>
  (
    name: string,
    help: string,
    value: number | readonly Labelled<number>[],
    aggregator: MetricSamples['aggregator'] = 'sum',
  ): MetricSamples => {
    const values = typeof value === 'number' ? [[{}, value] as const] : value;
    return { name, help, type, aggregator, values: values.map(([labels, each]) => ({ labels, value: each })) };
  };

/** Creates the samples of a counter. */
export const counter = samplesOf('counter');

/** Creates the samples of a gauge. */
export const gauge = samplesOf('gauge');

/**
 * Formats metrics in the Prometheus text format.
 *
 * @param processes samples of each process, which are combined
 */
export async function formatMetrics(processes: readonly (readonly MetricSamples[])[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client'); // Slow to load, and only needed for a scrape.
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

/** Adds counters to others, value by value. */
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

const keyOf = ({ metricName, labels }: MetricValue): string =>
  JSON.stringify([metricName, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
