import type { Labels, MetricSamples, MetricValue } from './metrics-snapshot.ts';

/** Name, description and type of a metric that only increases. */
export type Family = Pick<MetricSamples, 'name' | 'help' | 'type'>;

/** Number of a metric: increase its `value`. */
export interface Cell extends MetricValue {
  value: number;
}

/** Counters and histograms of a process. */
export class Counters {
  readonly #families: (Family & { values: Cell[] })[] = [];

  /** Adds a metric. Returns a function that adds one of its numbers: with a name, a part of a histogram. */
  addFamily(family: Family): (labels: Labels, metricName?: string) => Cell {
    const values: Cell[] = [];
    this.#families.push({ ...family, values });
    return (labels, metricName) => {
      const cell: Cell = { value: 0, labels, ...(metricName !== undefined && { metricName }) };
      values.push(cell);
      return cell;
    };
  }

  /** Returns the current values. */
  snapshot(): MetricSamples[] {
    return this.#families.map(({ values, ...family }) => ({
      ...family,
      aggregator: 'sum',
      values: values.map((cell) => ({ ...cell })),
    }));
  }
}
