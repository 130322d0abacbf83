import { type Curve, type Point, stepsOf } from './curves.ts';
import type { Figures, Outcome, WorkloadFigures } from './figures.ts';
import type { Table } from './render.ts';
import type { Results } from './results.ts';
import { FLOOR, OURS } from './subjects.ts';
import { compareWithTargets } from './targets.ts';

/** Returns the tables of a run, for the terminal and the docs. */
export const tablesOf = (results: Results): Table[] => [
  targetTable(results),
  ...results.workloads.map((workload) => workloadTable(workload, results)),
  ...(results.latency.length > 0 ? [latencyTable(results)] : []),
  restTable(results),
];

const targetTable = (results: Results): Table => ({
  title: 'Targets',
  head: ['value', 'result', 'target', ''],
  rows: compareWithTargets(results).map(({ value, result, target, verdict }) => [value, result, target, verdict]),
});

const RATIO_OF = { cpu: 'CPU', time: 'time', calls: 'calls' } as const;

const ms = (us: number): string => (us / 1_000).toFixed(us < 100_000 ? 1 : 0);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

function workloadTable({ key, title, judgedBy, subjects }: WorkloadFigures, { subjects: all }: Results): Table {
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
    rows: all.map(({ name, title }) => rowOf(title, subjects[name])),
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

const restTable = ({ subjects, rest, memory }: Results): Table => ({
  title: 'Start and memory',
  head: ['subject', 'first response ms', 'peak MB', 'settled MB', 'idle CPU'],
  rows: [
    ...subjects.map(({ name, title, startMs }) => {
      const { peakRss = 0, settledRss = 0, idleCpu = 0 } = rest[name] ?? {};
      return [title, startMs.toFixed(0), mb(peakRss), mb(settledRss), `${(idleCpu * 100).toFixed(1)} %`];
    }),
    ...(memory === undefined
      ? []
      : [memory.early, memory.late].map(({ requests, rss, heap }) => [
          `Notigraph after ${requests} mixed requests (${mb(heap)} MB of heap retained)`,
          '',
          mb(memory.peakRss),
          mb(rss),
          '',
        ])),
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
