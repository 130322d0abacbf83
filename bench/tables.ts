import type { Figures, Outcome, WorkloadFigures } from './figures.ts';
import type { MemoryFigures } from './memory.ts';
import type { Results } from './results.ts';
import type { Cost, Curve } from './scale.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';
import { compareWithTargets } from './targets.ts';

/** Table of results, for the terminal and the docs. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
}

/** Formats a table for the terminal. */
export function asText({ title, head, rows }: Table): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${title}\n${[head, ...rows].map((cells) => `  ${line(cells)}\n`).join('')}`;
}

/** Formats a table as Markdown with its title. */
export const asMarkdown = (table: Table): string => `### ${table.title}\n\n${asMarkdownTable(table)}`;

/** Formats a table as Markdown. Columns of numbers are aligned to the right. */
export function asMarkdownTable({ head, rows }: Pick<Table, 'head' | 'rows'>): string {
  const isFigure = head.map((_, column) =>
    rows.every((row) => /^(—|[+−]?[\d.]+( \S{1,2})?|)$/.test(row[column] ?? '')),
  );
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  const rule = `|${isFigure.map((right, column) => (right && head[column] !== '' ? ' ---: ' : ' --- ')).join('|')}|\n`;
  return `${line(head)}${rule}${rows.map(line).join('')}`;
}

/** Returns the tables of a run without the curves. */
export const tablesOf = (results: Results): Table[] => [
  targetTable(results),
  ...results.workloads.map((workload) => workloadTable(workload, results)),
  ...(results.latency.length > 0 ? [latencyTable(results)] : []),
  ...(results.mixed === undefined ? [] : [memoryTable(results.mixed)]),
  ...(results.subjects.length > 0 ? [restTable(results)] : []),
];

/** Returns the comparison with the targets. */
const targetTable = (results: Results): Table => ({
  title: 'Targets',
  head: ['value', 'result', 'target', ''],
  rows: compareWithTargets(results).map(({ value, result, target, verdict, fault }) => [
    value,
    result,
    target,
    fault === undefined ? verdict : `${verdict}: ${fault}`,
  ]),
});

/** Workloads of the overview. */
const OVERVIEW: readonly string[] = ['q1', 'q4', 'm1'];

/** Returns the overview: CPU time per request of every subject except the one with the cache. */
export function cpuTable({ workloads, subjects }: Results): Pick<Table, 'head' | 'rows'> {
  const shown = subjects.filter(({ name }) => name !== CACHED.name);
  const shorten = (title: string) => title.replace(/^Hand-written proxy.*/, 'hand-written proxy').replace('Stock ', '');
  return {
    head: ['', ...shown.map(({ title }) => shorten(title))],
    rows: workloads
      .filter(({ key }) => OVERVIEW.includes(key))
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
    rows: all
      .filter(({ name }) => subjects[name] !== undefined || !(name === CACHED.name || key === 'h2')) // With the cache, only H2 is measured.
      .map(({ name, title }) => rowOf(title, subjects[name])),
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

/** Returns the table of one curve. The exponents say how the cost grows from the previous amount: 0 is constant, 1 is linear. */
export const curveTable = ({ title, unit, points }: Curve): Table => ({
  title,
  head: [
    unit,
    'CPU µs per request',
    'requests/s',
    'p99 ms',
    'MB',
    'exponent',
    'floor: CPU µs per request',
    'floor: exponent',
  ],
  rows: points.map(({ amount, costs }, index) => {
    const before = points[index - 1];
    const [ours, floor] = [costs[OURS.name], costs[FLOOR.name]];
    const cells = (cost: Cost | undefined, format: (cost: Cost) => string) => (cost === undefined ? '—' : format(cost));
    const exponentOf = (name: string, { cpuUs }: Cost): string => {
      const cpuBefore = before?.costs[name]?.cpuUs;
      return before === undefined || cpuBefore === undefined
        ? ''
        : (Math.log(cpuUs / cpuBefore) / Math.log(amount / before.amount)).toFixed(2);
    };
    return [
      String(amount),
      cells(ours, ({ cpuUs }) => cpuUs.toFixed(0)),
      cells(ours, ({ perSecond }) => perSecond.toFixed(0)),
      cells(ours, ({ p99Us }) => ms(p99Us)),
      cells(ours, ({ rss }) => mb(rss)),
      cells(ours, (cost) => exponentOf(OURS.name, cost)),
      cells(floor, ({ cpuUs }) => cpuUs.toFixed(0)),
      cells(floor, (cost) => exponentOf(FLOOR.name, cost)),
    ];
  }),
});
