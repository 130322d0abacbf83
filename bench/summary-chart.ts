import type { Results } from './results.ts';
import { FLOOR, OURS } from './subjects.ts';
import { drawing, line, rect, text } from './svg.ts';

/** Workload of the chart: the most common kind of request. */
const WORKLOAD = 'q1';

const WIDTH = 760;
const MARGIN = 24;
const LABELS = 216;
/** Space for the value after the longest bar. */
const VALUES = 130;
const ROW = 34;
const BAR = 22;
const TOP = 108;

/** Bar of one subject. */
interface Bar {
  name: string;
  title: string;
  cpuUs: number;
  ratio: number;
}

/** Draws CPU time per request of every subject with one workload, sorted, with the finding as its title. */
export function drawSummary(results: Results): string {
  const bars = barsOf(results);
  const [finding, others] = findingsOf(bars);
  const left = MARGIN + LABELS;
  const unit = (WIDTH - MARGIN - left - VALUES) / Math.max(1, ...bars.map(({ cpuUs }) => cpuUs));
  const parts = [
    text(MARGIN, 36, finding, 'finding'),
    text(MARGIN, 60, others, 'others'),
    text(MARGIN, 82, 'CPU time per request, for one workflow with its steps (Q1). Less is better.', 'quiet'),
  ];
  for (const [index, { name, title, cpuUs, ratio }] of bars.entries()) {
    const y = TOP + index * ROW;
    const kind = name === OURS.name ? 'ours' : name === FLOOR.name ? 'floor' : 'peer';
    parts.push(text(left - 12, y + BAR / 2 + 5, title, kind === 'ours' ? 'right strong' : 'right'));
    parts.push(rect(left, y, cpuUs * unit, BAR, kind));
    const value = kind === 'floor' ? `${cpuUs.toFixed(0)} µs` : `${cpuUs.toFixed(0)} µs, ${ratio.toFixed(1)} ×`;
    parts.push(text(left + cpuUs * unit + 10, y + BAR / 2 + 5, value, kind === 'ours' ? 'strong' : ''));
  }
  const bottom = TOP + bars.length * ROW;
  const floor = bars.find(({ name }) => name === FLOOR.name);
  if (floor !== undefined) {
    const x = left + floor.cpuUs * unit;
    parts.push(line(x, TOP - 8, x, bottom - 4, 'mark'), text(x, bottom + 12, 'floor: 1 ×', 'quiet middle'));
  }
  return drawing(WIDTH, bottom + 28, describeSummary(results), parts);
}

/** Returns the finding of the chart as one line. */
export const describeSummary = (results: Results): string => findingsOf(barsOf(results)).join(' ');

const barsOf = ({ workloads, subjects }: Results): Bar[] =>
  subjects
    .flatMap(({ name, title }): Bar[] => {
      const { figures, fault } = workloads.find(({ key }) => key === WORKLOAD)?.subjects[name] ?? {};
      return figures === undefined || fault !== undefined
        ? []
        : [{ name, title, cpuUs: figures.cpuUs, ratio: figures.ratio }];
    })
    .sort((a, b) => a.cpuUs - b.cpuUs);

function findingsOf(bars: readonly Bar[]): [finding: string, others: string] {
  const ours = bars.find(({ name }) => name === OURS.name);
  const peers = bars.filter(({ name }) => name !== OURS.name && name !== FLOOR.name).map(({ ratio }) => ratio);
  return [
    ours === undefined
      ? 'CPU time per request.'
      : `Notigraph takes ${ours.ratio.toFixed(1)} × the CPU time of a hand-written proxy.`,
    peers.length === 0
      ? ''
      : `Other GraphQL servers take ${Math.min(...peers).toFixed(1)} × to ${Math.max(...peers).toFixed(1)} ×.`,
  ];
}
