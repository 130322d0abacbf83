import { type Curve, type Point, stepsOf } from './curves.ts';
import type { DocumentFigures } from './documents.ts';
import { type Figures, isShown, type Outcome, type WorkloadFigures } from './figures.ts';
import type { MemoryFigures } from './memory.ts';
import type { Table } from './render.ts';
import type { Results } from './results.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';
import { compareWithTargets } from './targets.ts';

/** Returns the tables of a run, for the terminal and the docs. */
export const tablesOf = (results: Results): Table[] => [
  targetTable(results),
  ...results.workloads.map((workload) => workloadTable(workload, results)),
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
export function readmeTable({ workloads, subjects }: Results): Pick<Table, 'head' | 'rows'> {
  const shown = subjects.filter(({ name }) => name !== CACHED.name);
  const shorten = (title: string) => title.replace(/^Hand-written proxy.*/, 'hand-written proxy').replace('Stock ', '');
  return {
    head: ['', ...shown.map(({ title }) => shorten(title))],
    rows: workloads
      .filter(({ key }) => README_WORKLOADS.includes(key))
      .map(({ key, title, subjects: outcomes }) => [
        `${key.toUpperCase()}: ${title}`,
        ...shown.map(({ name }) => outcomes[name]?.figures?.cpuUs.toFixed(0) ?? '—'),
      ]),
  };
}

const RATIO_OF = { cpu: 'CPU', time: 'time', calls: 'calls' } as const;

const ms = (us: number): string => (us / 1_000).toFixed(us < 100_000 ? 1 : 0);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

function workloadTable(workload: WorkloadFigures, { subjects: all }: Results): Table {
  const { key, title, judgedBy, subjects } = workload;
  const cells = ({ cpuUs, ratio, perSecond, p50Us, p99Us, calls, spread }: Figures): string[] => [
    cpuUs.toFixed(0),
    ratio.toFixed(2),
    perSecond.toFixed(perSecond < 100 ? 1 : 0),
    ms(p50Us),
    ms(p99Us),
    calls.toFixed(2),
    `${(spread * 100).toFixed(0)} %`,
  ];
  const rowOf = (subject: string, outcome: Outcome | undefined): string[] => {
    const { figures, fault } = outcome ?? {};
    const note = outcome === undefined ? 'not supported' : fault === undefined ? '' : `void: ${fault}`;
    return [subject, ...(figures === undefined ? ['—', '—', '—', '—', '—', '—', '—'] : cells(figures)), note];
  };
  return {
    title: `${key.toUpperCase()}: ${title}`,
    head: [
      'subject',
      'CPU µs per request',
      `${RATIO_OF[judgedBy]} × floor`,
      'requests/s',
      'p50 ms',
      'p99 ms',
      'upstream requests per request',
      'spread',
      '',
    ],
    rows: all.filter(({ name }) => isShown(name, workload)).map(({ name, title }) => rowOf(title, subjects[name])),
  };
}

const latencyTable = ({ latency, subjects }: Results): Table => ({
  title: 'Latency at half the floor’s throughput',
  head: ['workload', 'requests/s', 'subject', 'p50 ms', 'p99 ms', 'p99 × floor', 'rounds'],
  rows: latency.flatMap(({ key, rate, subjects: measured, ratio, ratios }) =>
    Object.entries(measured).map(([name, { p50Us, p99Us }], index) => [
      key.toUpperCase(),
      String(rate),
      subjects.find((subject) => subject.name === name)?.title ?? name,
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
    return [title, start.toFixed(0), mb(peakRss), mb(settledRss), `${(idleCpu * 100).toFixed(1)} %`];
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
    head: [
      curve.unit,
      'CPU µs per request',
      'requests/s',
      'p99 ms',
      'MB',
      'exponent',
      'floor: CPU µs per request',
      'floor: exponent',
    ],
    rows: curve.points.map((point) => {
      const [cost, floorCost] = [ours?.costOf(point), floor?.costOf(point)];
      return [
        String(point.amount),
        cost?.cpuUs.toFixed(0) ?? '—',
        cost?.perSecond.toFixed(0) ?? '—',
        cost === undefined ? '—' : ms(cost.p99Us),
        cost === undefined ? '—' : mb(cost.rss),
        ours?.exponentTo(point.amount) ?? '',
        floorCost?.cpuUs.toFixed(0) ?? '—',
        floor?.exponentTo(point.amount) ?? '',
      ];
    }),
  };
}
