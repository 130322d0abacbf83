// Writes the newest results to the generated parts of the docs.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Results, readNewestResults } from './results.ts';
import { asMarkdown, asMarkdownTable, cpuTable, tablesForUsers, targetTable } from './tables.ts';

const PAGE = 'docs/performance.md';
const CONTRIBUTORS_PAGE = 'docs/contributing/performance.md';

const inProject = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Creates the generated parts of pages from the newest results. Handwritten parts stay. @returns the pages by path within the project */
export function createReport(): Readonly<Record<string, string>> {
  const results = readNewestResults();
  const cpu = asMarkdownTable(cpuTable(results));
  return {
    [PAGE]: replaceParts(PAGE, { results: reportRun(results).join('\n') }),
    [CONTRIBUTORS_PAGE]: replaceParts(CONTRIBUTORS_PAGE, { results: asMarkdownTable(targetTable(results)) }),
    'README.md': replaceParts('README.md', { cpu }),
  };
}

/** Writes the newest results to the docs. @returns the path of the users' page within the project */
export function writeReport(): string {
  for (const [path, content] of Object.entries(createReport())) {
    writeFileSync(inProject(path), content);
  }
  return PAGE;
}

/** Replaces the parts of a page between two markers with the part's name. */
function replaceParts(path: string, parts: Readonly<Record<string, string>>): string {
  let page = readFileSync(inProject(path), 'utf8');
  for (const [name, content] of Object.entries(parts)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from < 0 || to < from) {
      throw new Error(`${path} must contain ${begin} and ${end}, which enclose generated content.`);
    }
    page = `${page.slice(0, from)}${begin}\n\n${content}\n${page.slice(to)}`;
  }
  return page;
}

function reportRun(results: Results): string[] {
  const { takenAt, minutes, machine, revision, settings, subjects, skipped } = results;
  const { cpu, cores, memory, kernel, node } = machine;
  const { starts = 1, rounds, seconds } = settings;
  const peers = subjects.flatMap(({ title, version }) => (version === undefined ? [] : [`${title} ${version}`]));
  return [
    `Taken on ${takenAt.slice(0, 10)} at commit ${revision.commit}${revision.changed ? ' with uncommitted changes' : ''}, in ${minutes} minutes: ${starts} ${starts === 1 ? 'start' : 'starts'} with ${rounds} rounds of ${seconds} s, ${cpu} with ${cores} cores, ${(memory / 2 ** 30).toFixed(1)} GiB of memory, Linux ${kernel}, Node ${node.slice(1)}.\n`,
    ...(peers.length > 0 ? [`Peers: ${peers.join(', ')}.\n`] : []),
    ...skipped.map(({ title, reason }) => `${title} was skipped: ${reason}\n`),
    ...tablesForUsers(results).map(asMarkdown),
  ];
}

if (import.meta.main) {
  console.log(`wrote ${writeReport()}`);
}
