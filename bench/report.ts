import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawCpu, drawScale } from './chart.ts';
import { describeVerdict } from './curves.ts';
import { asMarkdown } from './render.ts';
import { type Results, readNewestRun, readNewestScale, type ScaleResults } from './results.ts';
import { curveTable, tablesOf } from './tables.ts';

const PAGE = 'docs/benchmarks.md';
const CHARTS = { cpu: 'benchmarks-cpu.svg', scale: 'benchmarks-scale.svg' };
const [BEGIN, END] = ['<!-- results -->', '<!-- /results -->'];

const inProject = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Writes the newest results and their charts to the docs. @returns the page's path within the project */
export function writeReport(): string {
  const [run, scale] = [readNewestRun(), readNewestScale()];
  const parts = [...(run === undefined ? [] : reportRun(run)), ...(scale === undefined ? [] : reportScale(scale))];
  const page = existsSync(inProject(PAGE)) ? readFileSync(inProject(PAGE), 'utf8') : `${BEGIN}\n${END}\n`;
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start < 0 || end < start) {
    throw new Error(`${PAGE} must contain ${BEGIN} and ${END}, which enclose the results.`);
  }
  writeFileSync(inProject(PAGE), `${page.slice(0, start)}${BEGIN}\n\n${parts.join('\n')}\n${page.slice(end)}`);
  return PAGE;
}

function reportRun(results: Results): string[] {
  writeFileSync(inProject(`docs/${CHARTS.cpu}`), drawCpu(results));
  const [targets, ...others] = tablesOf(results).map(asMarkdown);
  const peers = results.subjects.filter(({ version }) => version !== undefined);
  return [
    `## The run\n\n${describe(results)}\n`,
    ...(peers.length > 0 ? [`Peers: ${peers.map(({ title, version }) => `${title} ${version}`).join(', ')}.\n`] : []),
    ...results.skipped.map(({ title, reason }) => `${title} was skipped: ${reason}\n`),
    targets ?? '',
    `![CPU time per request](${CHARTS.cpu})\n`,
    ...others,
  ];
}

function reportScale(results: ScaleResults): string[] {
  writeFileSync(inProject(`docs/${CHARTS.scale}`), drawScale(results));
  return [
    `## Scale\n\n${describe(results)}\n`,
    ...results.skipped.map(({ title, reason }) => `${title} were skipped: ${reason}.\n`),
    `![CPU time per request as the work grows](${CHARTS.scale})\n`,
    ...results.curves.map((curve) => `${asMarkdown(curveTable(curve))}\nNotigraph: ${describeVerdict(curve)}.\n`),
  ];
}

function describe({ takenAt, minutes, machine, revision, settings }: Omit<ScaleResults, 'curves' | 'skipped'>): string {
  const { cpu, cores, memory, kernel, node } = machine;
  const { commit, changed } = revision;
  return (
    `Taken on ${takenAt.slice(0, 10)} at commit ${commit}${changed ? ' with uncommitted changes' : ''}, in ${minutes} minutes: ` +
    `${settings.rounds} rounds of ${settings.seconds} s, ${cpu} with ${cores} cores, ${(memory / 2 ** 30).toFixed(1)} GiB of memory, ` +
    `Linux ${kernel}, Node ${node.slice(1)}.`
  );
}

if (import.meta.main) {
  console.log(`wrote ${writeReport()}`);
}
