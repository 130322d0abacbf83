// Formats results as tables, for the terminal and the docs.

import type { Figures } from './figures.ts';
import type { MemoryFigures } from './memory.ts';
import type { Results } from './results.ts';
import { CACHED, LEAN_FLOOR, OURS } from './subjects.ts';
import { compareWithTargets } from './targets.ts';

/** Table of results, for the terminal and the docs. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  /** Sentence below the table. */
  note?: string;
}

/** Formats a table for the terminal. */
export function asText({ title, head, rows, note }: Table): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${title}\n${[head, ...rows].map((cells) => `  ${line(cells)}\n`).join('')}${note === undefined ? '' : `  ${note}\n`}`;
}

/** Formats a table as Markdown with its title. */
export const asMarkdown = (table: Table): string => `### ${table.title}\n\n${asMarkdownTable(table)}`;

/** Formats a table as Markdown, without its title. Columns of numbers are aligned to the right. */
export function asMarkdownTable({ head, rows, note }: Omit<Table, 'title'>): string {
  const isFigure = head.map((_, column) =>
    rows.every((row) => /^(—|[+−]?[\d.]+( \S{1,2})?|)$/.test(row[column] ?? '')),
  );
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  const rule = `|${isFigure.map((right, column) => (right && head[column] !== '' ? ' ---: ' : ' --- ')).join('|')}|\n`;
  return `${line(head)}${rule}${rows.map(line).join('')}${note === undefined ? '' : `\n${note}\n`}`;
}

/** Returns the tables of a run. */
export const tablesOf = (results: Results): Table[] => [
  targetTable(results),
  ...(results.workloads.length > 0 ? MEASURES.map((measure) => measureTable(measure, results)) : []),
  ...(results.latency.length > 0 ? [latencyTable(results)] : []),
  ...(results.mixed === undefined ? [] : [memoryTable(results.mixed)]),
  ...(results.subjects.length > 0 ? [restTable(results)] : []),
];

/** Returns the tables for those who choose a gateway, and plan its capacity. */
export const tablesForUsers = (results: Results): Table[] => [
  ...(results.workloads.length > 0 ? [CPU_TIME, LATENCY].map((measure) => measureTable(measure, results)) : []),
  ...(results.subjects.length > 0 ? [restTable(results)] : []),
];

/** Returns the comparison with the targets. */
export const targetTable = (results: Results): Table => ({
  title: 'Targets',
  head: ['value', 'result', 'target', 'verdict'],
  rows: compareWithTargets(results).map(({ value, result, target, verdict, fault }) => [
    value,
    result,
    target,
    fault === undefined ? verdict : `${verdict}: ${fault}`,
  ]),
});

/** Workloads of the overview. */
const OVERVIEW: readonly string[] = ['q1', 'q4', 'm1'];

/** Returns the overview: CPU time per request of every subject but the lean floor, which is for contributors. */
export function cpuTable({ workloads, subjects }: Results): Omit<Table, 'title'> {
  const { head, rows } = measureTable(CPU_TIME, {
    subjects: subjects.filter(({ name }) => name !== LEAN_FLOOR.name),
    workloads: workloads.filter(({ key }) => OVERVIEW.includes(key)),
  });
  return {
    head: head.map((name) => (name === 'floor' ? 'hand-written proxy' : name)),
    rows,
    ...(rows.flat().some((cell) => cell.endsWith('†')) && { note: '† Its starts differ too much for a comparison.' }),
  };
}

/** Returns the name of a subject in a table. */
const shorten = (title: string): string => title.replace(/^Hand-written proxy.*/, 'floor').replace('Stock ', '');

const ms = (us: number): string => (us / 1_000).toFixed(us < 100_000 ? 1 : 0);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Value that a table compares between all subjects and workloads. */
interface Measure {
  title: string;
  format(figures: Figures): string;
}

const CPU_TIME: Measure = { title: 'CPU time per request, in µs', format: ({ cpuUs }) => cpuUs.toFixed(0) };
const MULTIPLES: Measure = { title: 'Multiples of the floor', format: ({ ratio }) => ratio.toFixed(2) };
const LATENCY: Measure = { title: '99th percentile of latency, in ms', format: ({ p99Us }) => ms(p99Us) };

const MEASURES: readonly Measure[] = [
  CPU_TIME,
  MULTIPLES,
  { title: 'Requests per second', format: ({ perSecond }) => perSecond.toFixed(perSecond < 100 ? 1 : 0) },
  LATENCY,
];

/**
 * Returns a row per workload and a column per subject. Notigraph with the cache has a workload of its own. The first table has the titles
 * of the workloads, and marks void results.
 */
function measureTable(measure: Measure, { workloads, subjects }: Pick<Results, 'workloads' | 'subjects'>): Table {
  const columns = subjects.filter(({ name }) => name !== CACHED.name);
  const faults: string[] = [];
  // Of B1, few requests are sent: their CPU time says more about the round than about them.
  const compared = workloads.filter(({ judgedBy }) => measure !== CPU_TIME || judgedBy !== 'time');
  const rows = compared.map(({ key, title, judgedBy, subjects: outcomes }) => {
    const name = key.toUpperCase();
    const addition =
      measure === CPU_TIME ? `: ${title}` : measure === MULTIPLES && judgedBy !== 'cpu' ? ` (${judgedBy})` : '';
    const cells = columns.map((column) => {
      const { figures, fault } =
        outcomes[column.name] ?? (column.name === OURS.name ? outcomes[CACHED.name] : undefined) ?? {};
      const value = figures === undefined ? '—' : measure.format(figures);
      if (measure !== CPU_TIME || fault === undefined) {
        return value;
      }
      faults.push(`${shorten(column.title)} in ${name} (${fault})`);
      return `${value} †`;
    });
    return [name + addition, ...cells];
  });
  const note = faults.length === 0 ? {} : { note: `† Void: ${faults.join(', ')}.` };
  return { title: measure.title, head: ['workload', ...columns.map((column) => shorten(column.title))], rows, ...note };
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
