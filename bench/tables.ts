import { type Curve, type Point, stepsOf } from './curves.ts';
import type { DocumentFigures } from './documents.ts';
import type { Figures } from './figures.ts';
import type { MemoryFigures } from './memory.ts';
import type { Table } from './render.ts';
import type { Results } from './results.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';
import { compareWithTargets } from './targets.ts';

/** Returns the tables of a run, for the terminal and the docs. */
export const tablesOf = (results: Results): Table[] => [
  targetTable(results),
  ...MEASURES.map((measure, index) => measureTable(measure, results, index === 0)),
  ...(results.latency.length > 0 ? [latencyTable(results)] : []),
  ...(results.documents === undefined ? [] : [documentsTable(results.documents)]),
  ...(results.mixed === undefined ? [] : [memoryTable(results.mixed)]),
  restTable(results),
];

/** Returns the comparison with the targets. */
export const targetTable = (results: Results): Table => ({
  title: 'Targets',
  head: ['value', 'result', 'target', ''],
  rows: compareWithTargets(results).map(({ value, result, target, verdict, fault }) => [
    value,
    result,
    target,
    fault === undefined ? verdict : `${verdict}: ${fault}`,
  ]),
});

/** Workloads of the README. */
const README_WORKLOADS: readonly string[] = ['q1', 'q4', 'm1'];

/** Returns the README's table: CPU time per request of every subject that a workload was measured with. */
export function readmeTable({ workloads, ...results }: Results): Pick<Table, 'head' | 'rows'> {
  const shown = workloads.filter(({ key }) => README_WORKLOADS.includes(key));
  const { head, rows } = measureTable(CPU_TIME, { ...results, workloads: shown }, true);
  return { head: ['', ...head.slice(1).map((name) => (name === 'floor' ? 'hand-written proxy' : name))], rows };
}

/** Returns the name of a subject in a table. */
const shorten = (title: string): string => title.replace(/^Hand-written proxy.*/, 'floor').replace('Stock ', '');

const ms = (us: number): string => (us / 1_000).toFixed(us < 100_000 ? 1 : 0);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Value that a table compares between all subjects and workloads. */
interface Measure {
  title: string;
  format(figures: Figures): string;
  /** Whether values are marked that say nothing about a target. */
  marksVoid?: boolean;
}

const CPU_TIME: Measure = { title: 'CPU time per request, in µs', format: ({ cpuUs }) => cpuUs.toFixed(0) };

const MEASURES: readonly Measure[] = [
  CPU_TIME,
  { title: 'Multiples of the floor', format: ({ ratio }) => ratio.toFixed(2), marksVoid: true },
  { title: 'Requests per second', format: ({ perSecond }) => perSecond.toFixed(perSecond < 100 ? 1 : 0) },
  { title: '99th percentile of latency, in ms', format: ({ p99Us }) => ms(p99Us) },
];

/** Returns a row per workload and a column per subject. Notigraph with the cache has a workload of its own. */
function measureTable(
  { title, format, marksVoid = false }: Measure,
  { workloads, subjects }: Pick<Results, 'workloads' | 'subjects'>,
  isFirst: boolean,
): Table {
  const columns = subjects.filter(({ name }) => name !== CACHED.name);
  const faults: string[] = [];
  const rows = workloads.map(({ key, title: workload, judgedBy, subjects: outcomes }) => [
    `${key.toUpperCase()}${isFirst ? `: ${workload}` : marksVoid && judgedBy !== 'cpu' ? ` (${judgedBy})` : ''}`,
    ...columns.map(({ name, title: subject }) => {
      const { figures, fault } = outcomes[name] ?? (name === OURS.name ? outcomes[CACHED.name] : undefined) ?? {};
      const value = figures === undefined ? '—' : format(figures);
      if (!marksVoid || fault === undefined) {
        return value;
      }
      faults.push(`${shorten(subject)} in ${key.toUpperCase()} (${fault})`);
      return `${value} †`;
    }),
  ]);
  const note = faults.length === 0 ? {} : { note: `† Void: ${faults.join(', ')}.` };
  return { title, head: ['workload', ...columns.map((column) => shorten(column.title))], rows, ...note };
}

const latencyTable = ({ latency, subjects }: Results): Table => ({
  title: 'Latency at half the floor’s throughput',
  head: ['workload', 'requests/s', 'subject', 'p50 ms', 'p99 ms', 'p99 × floor', 'rounds'],
  rows: latency.flatMap(({ key, rate, subjects: measured, ratio, ratios }) =>
    Object.entries(measured).map(([name, { p50Us, p99Us }], index) => [
      key.toUpperCase(),
      String(rate),
      shorten(subjects.find((subject) => subject.name === name)?.title ?? name),
      (p50Us / 1_000).toFixed(2),
      (p99Us / 1_000).toFixed(2),
      index === 0 ? '1.00' : ratio.toFixed(2),
      index === 0 ? '' : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    ]),
  ),
});

const restTable = ({ subjects, rest, starts }: Results): Table => ({
  title: 'Start, memory and idle CPU after all workloads',
  head: ['subject', 'first response ms', 'peak MB', 'settled MB', 'idle CPU'],
  rows: subjects.map(({ name, title, startMs }) => {
    const { peakRss = 0, settledRss = 0, idleCpu = 0 } = rest[name] ?? {};
    const start = name === OURS.name ? (starts?.packagedMs ?? startMs) : startMs;
    return [shorten(title), start.toFixed(0), mb(peakRss), mb(settledRss), `${(idleCpu * 100).toFixed(1)} %`];
  }),
});

const memoryTable = ({ early, late, heap, peak }: MemoryFigures): Table => ({
  title: 'Resident memory under mixed load',
  head: ['requests', 'Notigraph MB', 'floor MB', 'difference MB'],
  rows: [
    ...[early, late].map(({ requests, ours, floor }) => [String(requests), mb(ours), mb(floor), mb(ours - floor)]),
    ['peak', mb(peak.ours), mb(peak.floor), mb(peak.ours - peak.floor)],
    ['live heap at the end', mb(heap), '', ''],
  ],
});

const documentsTable = ({ repeatedUs, uniqueUs, ratio, ratios }: DocumentFigures): Table => ({
  title: 'Documents that never repeat',
  head: ['documents', 'CPU µs per request', '× repeated', 'rounds'],
  rows: [
    ['repeated', repeatedUs.toFixed(0), '1.00', ''],
    [
      'new each time',
      uniqueUs.toFixed(0),
      ratio.toFixed(2),
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    ],
  ],
});

/** Returns the table of one curve. */
export function curveTable(curve: Curve): Table {
  const [ours, floor] = [OURS.name, FLOOR.name].map((name) => ({
    costOf: ({ costs }: Point) => costs[name],
    exponentTo: (amount: number) =>
      stepsOf(curve, name)
        .find(({ to }) => to === amount)
        ?.exponent.toFixed(2) ?? '',
  }));
  return {
    title: curve.title,
    head: [curve.unit, 'CPU µs', 'p99 ms', 'MB', 'exponent', 'floor CPU µs', 'floor exponent'],
    rows: curve.points.map((point) => {
      const [cost, floorCost] = [ours?.costOf(point), floor?.costOf(point)];
      return [
        String(point.amount),
        cost?.cpuUs.toFixed(0) ?? '—',
        cost === undefined ? '—' : ms(cost.p99Us),
        cost === undefined ? '—' : mb(cost.rss),
        ours?.exponentTo(point.amount) ?? '',
        floorCost?.cpuUs.toFixed(0) ?? '—',
        floor?.exponentTo(point.amount) ?? '',
      ];
    }),
  };
}
