/** Current values of one metric, in the JSON format of prom-client, so that they can be sent to another process. */
export interface MetricSamples {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Function that combines the values of several processes. */
  aggregator: 'sum' | 'max' | 'min' | 'first';
  values: readonly Value[];
}

interface Value {
  value: number;
  labels: Labels;
  /** Name of a part of a histogram. @default the metric's name */
  metricName?: string;
}

/** Labels of a value. They must be closed sets: nothing sent by a client may become a label. */
export type Labels = Readonly<Record<string, string | number>>;

/** Value with its labels. */
export type Labelled<T> = readonly [labels: Labels, value: T];

/** Creates the samples of a counter. */
export const counter = (name: string, help: string, values: readonly Labelled<number>[]): MetricSamples => ({
  name,
  help,
  type: 'counter',
  aggregator: 'sum',
  values: values.map(([labels, value]) => ({ labels, value })),
});

/** Creates the samples of a gauge. */
export const gauge = (
  name: string,
  help: string,
  value: number | readonly Labelled<number>[],
  aggregator: MetricSamples['aggregator'] = 'sum',
): MetricSamples => ({
  name,
  help,
  type: 'gauge',
  aggregator,
  values:
    typeof value === 'number' ? [{ labels: {}, value }] : value.map(([labels, each]) => ({ labels, value: each })),
});

/** Creates the samples of a histogram. */
export const histogram = (name: string, help: string, values: readonly Labelled<Durations>[]): MetricSamples => ({
  name,
  help,
  type: 'histogram',
  aggregator: 'sum',
  values: values.flatMap(([labels, durations]) => {
    const { buckets, sum, count } = durations.totals();
    return [
      ...buckets.map(([le, value]) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }),
});

/** Upper bounds of the buckets, in seconds. The last one is the default timeout of operations. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Histogram of durations. */
export interface Durations {
  /** Counts a duration. */
  add(milliseconds: number): void;
  /** Returns the current counts. */
  totals(): {
    /** Number of durations up to each bound. */
    buckets: readonly (readonly [seconds: number | '+Inf', count: number])[];
    /** Sum of all durations, in seconds. */
    sum: number;
    count: number;
  };
}

/** Creates a histogram. It is not prom-client's, which serializes its labels at each observation and takes 15 times as long. */
export function createDurations(): Durations {
  const counts = new Float64Array(BOUNDS.length + 1);
  let sum = 0;
  return {
    add(milliseconds) {
      const seconds = milliseconds / 1_000;
      let bucket = 0;
      while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) {
        bucket += 1;
      }
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      sum += seconds;
    },
    totals() {
      let count = 0;
      const buckets = Array.from(counts, (inBucket, i) => {
        count += inBucket;
        return [BOUNDS[i] ?? '+Inf', count] as const;
      });
      return { buckets, sum, count };
    },
  };
}

/**
 * Formats metrics in the Prometheus text format.
 *
 * @param processes samples of each process, which are combined
 */
export async function formatMetrics(processes: readonly (readonly MetricSamples[])[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client'); // Slow to load, and only needed for a scrape.
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
