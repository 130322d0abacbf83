/** One metric at one moment: plain data, as prom-client's registries write it down, fit for being sent to another process. */
export interface MetricSamples {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** How the figures of several processes become one. */
  aggregator: 'sum' | 'max' | 'min' | 'first';
  values: readonly Value[];
}

interface Value {
  value: number;
  labels: Labels;
  /** Where it is not the metric's own: of a histogram's parts. */
  metricName?: string;
}

/** Every label's values are a closed set: nothing that a client sends may become one. */
export type Labels = Readonly<Record<string, string | number>>;

/** A value with its labels. */
export type Labelled<T> = readonly [labels: Labels, value: T];

export const counter = (name: string, help: string, values: readonly Labelled<number>[]): MetricSamples => ({
  name,
  help,
  type: 'counter',
  aggregator: 'sum',
  values: values.map(([labels, value]) => ({ labels, value })),
});

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

export const histogram = (name: string, help: string, values: readonly Labelled<Durations>[]): MetricSamples => ({
  name,
  help,
  type: 'histogram',
  aggregator: 'sum',
  values: values.flatMap(([labels, durations]) => {
    const { upTo, sum, count } = durations.totals();
    return [
      ...upTo.map(([le, value]) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }),
});

/** In seconds. The last one is the time of an operation: what is above it was late. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Durations, counted in buckets. */
export interface Durations {
  add(milliseconds: number): void;
  totals(): {
    /** How many were at most so long. */
    upTo: readonly (readonly [seconds: number | '+Inf', count: number])[];
    /** In seconds. */
    sum: number;
    count: number;
  };
}

/** prom-client's own histogram makes a text of its labels at each observation, which costs 15 times as much. */
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
      const upTo = Array.from(counts, (inBucket, i) => {
        count += inBucket;
        return [BOUNDS[i] ?? '+Inf', count] as const;
      });
      return { upTo, sum, count };
    },
  };
}

/**
 * Figures in Prometheus' text format: of one process, or of several as one.
 *
 * @param processes the figures of each
 */
export async function formatMetrics(processes: readonly (readonly MetricSamples[])[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client'); // Slow to load, and not needed before somebody asks.
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
