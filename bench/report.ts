import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawCpu, drawScale } from './chart.ts';
import { describeVerdict } from './curves.ts';
import { asMarkdown, asMarkdownTable } from './render.ts';
import { type Results, readNewestRun, readNewestScale, type ScaleResults } from './results.ts';
import { describeSummary, drawSummary } from './summary-chart.ts';
import { curveTable, readmeTable, tablesOf } from './tables.ts';

const PAGE = 'docs/benchmarks.md';
/** Pages that show CPU time per request. */
const WITH_CPU = ['README.md', 'docs/comparison.md'];

/** Generated files, by path within the project. */
export type Report = Readonly<Record<string, string>>;

const inProject = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const readPage = (path: string): string => readFileSync(inProject(path), 'utf8');

/** Creates the page, its charts and the tables of other pages from the newest results. Handwritten parts stay. */
export function createReport(): Report {
  const [run, scale] = [readNewestRun(), readNewestScale()];
  const page = readPage(PAGE);
  const summary = run === undefined ? [] : [`![${describeSummary(run)}](benchmarks-summary.svg)\n`];
  const results = [...(run === undefined ? [] : reportRun(run)), ...(scale === undefined ? [] : reportScale(scale))];
  return {
    [PAGE]: replacePart(replacePart(page, 'summary', summary), 'results', results),
    ...(run && {
      ...Object.fromEntries(
        WITH_CPU.map((path) => [path, replacePart(readPage(path), 'cpu', [asMarkdownTable(readmeTable(run))])]),
      ),
      'docs/benchmarks-summary.svg': drawSummary(run),
      'docs/benchmarks-cpu.svg': drawCpu(run),
    }),
    ...(scale && { 'docs/benchmarks-scale.svg': drawScale(scale) }),
  };
}

/** Writes the newest results and their charts to the docs. @returns the page's path within the project */
export function writeReport(): string {
  for (const [path, content] of Object.entries(createReport())) {
    writeFileSync(inProject(path), content);
  }
  return PAGE;
}

/** Replaces the part of a page between two markers. */
function replacePart(page: string, name: string, content: readonly string[]): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) {
    throw new Error(
      `${[PAGE, ...WITH_CPU].join(', ')} must contain ${begin} and ${end}, which enclose generated content.`,
    );
  }
  return `${page.slice(0, from)}${begin}\n\n${content.join('\n')}\n${page.slice(to)}`;
}

function reportRun(results: Results): string[] {
  const [targets, ...others] = tablesOf(results).map(asMarkdown);
  const peers = results.subjects.filter(({ version }) => version !== undefined);
  return [
    `## Results\n\n${describe(results)}\n`,
    ...(peers.length > 0 ? [`Peers: ${peers.map(({ title, version }) => `${title} ${version}`).join(', ')}.\n`] : []),
    ...results.skipped.map(({ title, reason }) => `${title} was skipped: ${reason}\n`),
    targets ?? '',
    '![CPU time per request by workload](benchmarks-cpu.svg)\n',
    ...others,
  ];
}

const reportScale = (results: ScaleResults): string[] => [
  `## Scale\n\n${describe(results)}\n`,
  ...results.skipped.map(({ title, reason }) => `${title}: no result, because ${reason}.\n`),
  '![CPU time per request as the work grows](benchmarks-scale.svg)\n',
  ...results.curves.map((curve) => `${asMarkdown(curveTable(curve))}\nNotigraph: ${describeVerdict(curve)}.\n`),
];

function describe({ takenAt, minutes, machine, revision, settings }: Omit<ScaleResults, 'curves' | 'skipped'>): string {
  const { cpu, cores, memory, kernel, node } = machine;
  const { commit, changed } = revision;
  const { starts, rounds, seconds } = settings;
  return (
    `Taken on ${takenAt.slice(0, 10)} at commit ${commit}${changed ? ' with uncommitted changes' : ''}, in ${minutes} minutes: ` +
    `${starts === undefined ? '' : `${starts} starts with `}${rounds} rounds of ${seconds} s${starts === undefined ? '' : ' each'}, ${cpu} with ${cores} cores, ${(memory / 2 ** 30).toFixed(1)} GiB of memory, ` +
    `Linux ${kernel}, Node ${node.slice(1)}.`
  );
}

if (import.meta.main) {
  console.log(`wrote ${writeReport()}`);
}
