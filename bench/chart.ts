import { type Curve, describeVerdict } from './curves.ts';
import { isShown, type WorkloadFigures } from './figures.ts';
import type { Results, ScaleResults } from './results.ts';
import { FLOOR, OURS } from './subjects.ts';
import { drawing, line, path, rect, text } from './svg.ts';
import { cpuLimitOf } from './targets.ts';

const WIDTH = 760;
const MARGIN = 20;
const LABELS = 210;
/** Space for the numbers after the longest bar. */
const FIGURES = 130;
const ROW = 22;

const kindOf = (name: string): string => (name === OURS.name ? 'ours' : name === FLOOR.name ? 'floor' : 'peer');

/** Draws CPU time per request as a multiple of the floor's, with one panel per workload and one bar per subject. */
export function drawCpu({ workloads, subjects }: Results): string {
  const parts: string[] = [text(MARGIN, 30, 'CPU time per request, as a multiple of the floor’s', 'title')];
  parts.push(line(MARGIN, 45, MARGIN + 24, 45, 'limit'), text(MARGIN + 32, 49, 'Notigraph’s target', 'quiet'));
  let y = 78;
  for (const workload of workloads.filter(({ key }) => cpuLimitOf(key) !== undefined)) {
    const panel = drawPanel(workload, subjects, y);
    parts.push(...panel.parts);
    y = panel.end;
  }
  return drawing(WIDTH, y, 'CPU time per request by workload and subject', parts);
}

function drawPanel(
  workload: WorkloadFigures,
  subjects: Results['subjects'],
  top: number,
): { parts: string[]; end: number } {
  const { key, title, subjects: outcomes } = workload;
  const limit = cpuLimitOf(key) ?? 1;
  const ratios = subjects.map(({ name }) => outcomes[name]?.figures?.ratio ?? 0);
  const unit = (WIDTH - 2 * MARGIN - LABELS - FIGURES) / Math.max(limit, ...ratios);
  const left = MARGIN + LABELS;
  const parts = [text(MARGIN, top, `${key.toUpperCase()}: ${title}`, 'title')];
  let y = top + 10;
  for (const { name, title } of subjects.filter((subject) => isShown(subject.name, workload))) {
    const { figures, fault } = outcomes[name] ?? { fault: 'not supported' };
    parts.push(text(left - 10, y + 15, title, 'right'));
    if (figures === undefined || fault !== undefined) {
      parts.push(text(left, y + 15, figures === undefined ? 'no result' : 'void', 'quiet'));
    } else {
      const { ratio, cpuUs } = figures;
      // Only our own bar has a target mark, and its numbers follow the mark.
      const end = left + unit * (name === OURS.name ? Math.max(ratio, limit) : ratio);
      parts.push(rect(left, y + 3, ratio * unit, ROW - 6, kindOf(name)));
      parts.push(text(end + 8, y + 15, `${ratio.toFixed(2)} · ${cpuUs.toFixed(0)} µs`, 'quiet'));
    }
    if (name === OURS.name) {
      parts.push(line(left + limit * unit, y, left + limit * unit, y + ROW, 'limit'));
    }
    y += ROW;
  }
  return { parts, end: y + 34 };
}

const COLUMNS = 2;
const PANEL = { width: (WIDTH - MARGIN) / COLUMNS - MARGIN, height: 170 };

/** Draws cost per request by amount of work, with one panel per dimension and logarithmic scales. */
export function drawScale({ curves }: ScaleResults): string {
  const parts = [
    text(MARGIN, 30, 'CPU time per request as the work grows (both scales logarithmic)', 'title'),
    rect(MARGIN, 42, 12, 12, 'ours'),
    text(MARGIN + 18, 52, OURS.title, 'quiet'),
    rect(MARGIN + 110, 42, 12, 12, 'floor'),
    text(MARGIN + 128, 52, FLOOR.title, 'quiet'),
  ];
  const top = 84;
  for (const [index, curve] of curves.entries()) {
    const x = MARGIN + (index % COLUMNS) * (PANEL.width + MARGIN);
    parts.push(...drawCurve(curve, x, top + Math.floor(index / COLUMNS) * (PANEL.height + 50)));
  }
  const rows = Math.ceil(curves.length / COLUMNS);
  return drawing(WIDTH, top + rows * (PANEL.height + 50), 'CPU time per request as the work grows', parts);
}

function drawCurve(curve: Curve, left: number, top: number): string[] {
  const { title, unit, points } = curve;
  const costs = points.flatMap(({ costs }) => Object.values(costs).map(({ cpuUs }) => cpuUs));
  const [low, high] = [
    10 ** Math.floor(Math.log10(Math.min(...costs))),
    10 ** Math.ceil(Math.log10(Math.max(...costs))),
  ];
  const [first, last] = [points[0]?.amount ?? 1, points.at(-1)?.amount ?? 2];
  const axis = left + 52;
  const [plotTop, plotBottom] = [top + 34, top + PANEL.height - 24];
  const xOf = (amount: number) =>
    axis + (Math.log(amount / first) / Math.log(last / first)) * (left + PANEL.width - 14 - axis);
  const yOf = (cost: number) => plotBottom - (Math.log(cost / low) / Math.log(high / low)) * (plotBottom - plotTop);
  const parts = [text(left, top, title, 'title'), text(left, top + 17, describeVerdict(curve), 'quiet')];
  for (let cost = low; cost <= high; cost *= 10) {
    parts.push(line(axis, yOf(cost), left + PANEL.width, yOf(cost), 'grid'));
    parts.push(text(axis - 6, yOf(cost) + 4, cost >= 1_000 ? `${cost / 1_000} ms` : `${cost} µs`, 'quiet right'));
  }
  for (const { amount } of points) {
    parts.push(text(xOf(amount), plotBottom + 18, amount.toLocaleString('en'), 'quiet middle'));
  }
  parts.push(text(left + PANEL.width, plotBottom + 34, unit, 'quiet right'));
  for (const name of [FLOOR.name, OURS.name]) {
    const measured = points.flatMap(({ amount, costs }): [number, number][] => {
      const cost = costs[name];
      return cost === undefined ? [] : [[xOf(amount), yOf(cost.cpuUs)]];
    });
    if (measured.length > 0) {
      parts.push(path(measured, kindOf(name)));
    }
  }
  return parts;
}
