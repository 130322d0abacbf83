// Counters and histograms of a process, their samples, and the format in which Prometheus reads the samples of several processes.

import type { WatchedFiles } from '../files/file-watcher.ts';

/** Current values of one metric, in the JSON format of prom-client, so that they can be sent to another process. */
export interface MetricSamples {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Function that combines the values of several processes. */
  aggregator: 'sum' | 'max' | 'min' | 'first';
  values: readonly MetricValue[];
}

interface MetricValue {
  /** Increased by whoever counts. */
  value: number;
  labels: Labels;
  /** Name of a part of a histogram. @default the metric's name */
  metricName?: string;
}

/** Labels of a value. They must be closed sets: nothing sent by a client may become a label. */
export type Labels = Readonly<Record<string, string | number>>;

/** Returns a function that creates the samples of a metric: of one value, or of several with their labels. */
const samplesOf =
  (type: 'counter' | 'gauge') =>
  (
    name: string,
    help: string,
    value: number | readonly (readonly [labels: Labels, value: number])[],
    aggregator: MetricSamples['aggregator'] = 'sum',
  ): MetricSamples => {
    const values = typeof value === 'number' ? [[{}, value] as const] : value;
    return { name, help, type, aggregator, values: values.map(([labels, each]) => ({ labels, value: each })) };
  };

export const counter = samplesOf('counter');

export const gauge = samplesOf('gauge');

/** Returns the samples of files that are read again when they change. */
export const fileSamples = (files: readonly Pick<WatchedFiles, 'name' | 'invalidSince' | 'expiresAt'>[]) => [
  gauge(
    'notigraph_files_invalid_since_seconds',
    'Time since which changed files are rejected, in seconds since the Unix epoch; 0 while they are valid.',
    files.map(({ name, invalidSince }) => [{ files: name }, invalidSince()]),
    'max',
  ),
  gauge(
    'notigraph_certificates_expire_seconds',
    'Time until certificates expire, in seconds.',
    files.flatMap(({ name, expiresAt }): [{ files: string }, number][] => {
      const at = expiresAt?.();
      return at === undefined ? [] : [[{ files: name }, at - Date.now() / 1_000]];
    }),
    'min',
  ),
];

/**
 * Formats metrics in the Prometheus text format.
 *
 * @param processes samples of each process, which are combined
 */
export async function formatMetrics(processes: readonly (readonly MetricSamples[])[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client'); // Slow to load, and only needed for a scrape.
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

/** Values of labels, in their order. A label without a value is left out. */
type LabelValues = readonly (string | undefined)[];

export class Counters {
  readonly #families: (Pick<MetricSamples, 'name' | 'help' | 'type'> & { values: MetricValue[] })[] = [];

  /** Adds a counter. Returns a function that returns its number with some values of its labels, which it adds if there is none. */
  addCounter(name: string, help: string, labelNames: readonly string[]): (...values: LabelValues) => MetricValue {
    const values: MetricValue[] = [];
    this.#families.push({ name, help, type: 'counter', values });
    return byLabels(labelNames, (labels) => {
      const cell = { value: 0, labels };
      values.push(cell);
      return cell;
    });
  }

  addHistogram(name: string, help: string, labelNames: readonly string[]): (...values: LabelValues) => Durations {
    const values: MetricValue[] = [];
    this.#families.push({ name, help, type: 'histogram', values });
    return byLabels(labelNames, (labels) => new Durations(name, labels, values));
  }

  /** Returns the current values. Metrics that have none are left out. */
  snapshot(): MetricSamples[] {
    return this.#families.flatMap(({ values, ...family }): MetricSamples[] =>
      values.length === 0 ? [] : [{ ...family, aggregator: 'sum', values: values.map((cell) => ({ ...cell })) }],
    );
  }
}

/** Upper bounds of the buckets, in seconds. The last but one is the default timeout of operations. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, Number.POSITIVE_INFINITY];

/** Part of a histogram with the same labels. */
export class Durations {
  readonly #buckets: readonly { bound: number; cell: MetricValue }[];
  readonly #count: MetricValue;
  readonly #sum: MetricValue;

  constructor(name: string, labels: Labels, cells: MetricValue[]) {
    const add = (part: string, own: Labels = {}): MetricValue => {
      const cell: MetricValue = { value: 0, labels: { ...own, ...labels }, metricName: `${name}_${part}` };
      cells.push(cell);
      return cell;
    };
    this.#buckets = BOUNDS.map((bound) => ({
      bound,
      cell: add('bucket', { le: Number.isFinite(bound) ? bound : '+Inf' }),
    }));
    this.#count = add('count');
    this.#sum = add('sum');
  }

  add(milliseconds: number): void {
    const seconds = milliseconds / 1_000;
    for (const { bound, cell } of this.#buckets) {
      if (seconds <= bound) {
        cell.value += 1;
      }
    }
    this.#count.value += 1;
    this.#sum.value += seconds;
  }
}

/** Entry for some values of labels, and the branches of those that continue them. */
interface Branch<Entry> {
  entry?: Entry;
  readonly next: Map<string | undefined, Branch<Entry>>;
}

/** Returns a function that returns the same entry for the same values of labels. A tree, because to join them into a key takes ten times as long. */
function byLabels<Entry>(names: readonly string[], create: (labels: Labels) => Entry) {
  const root: Branch<Entry> = { next: new Map() };
  return (...values: LabelValues): Entry => {
    let branch = root;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.entry === undefined) {
      const labels = names.flatMap((name, i) => (values[i] === undefined ? [] : [[name, values[i]] as const]));
      branch.entry = create(Object.fromEntries(labels));
    }
    return branch.entry;
  };
}
