import { closeSync, constants, rmSync, writeSync } from 'node:fs';
import { be, formatCount, formatDuration, formatRows } from './progress.ts';
import { type Counts, type Entry, type Outcome, openPrivateFile, type Results, type SendableRow } from './results.ts';
import { NOTES, type Row } from './rows.ts';

/** Problems and failed rows that are printed. */
export const PRINTED = 20;

/** Longest row that a dry run shows completely. */
const MAX_SHOWN = 300;

/** Writes a line per row to a file: JSON with its outcome. */
export function writeReport(path: string, results: Results): void {
  const file = openPrivateFile(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    for (const { code, message, ...entry } of results.entries()) {
      const reason = { ...(code !== null && { code }), ...(message !== null && { message }) };
      writeSync(file, `${JSON.stringify({ ...entry, ...reason })}\n`);
    }
  } finally {
    closeSync(file);
  }
}

/** File of rejected rows, written like the imported one, with their lines and reasons before them. It is created with the first row. */
export class RejectedRows implements Disposable {
  readonly #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
    rmSync(path, { force: true }); // That of an earlier import.
  }

  add({ line, text, header, dialect: { mark, lineEnd, delimiter } }: Row, problems: readonly string[]): void {
    const reasons = problems.join(' ');
    const addNotes = (notes: readonly string[], row: string) =>
      delimiter === undefined
        ? row.replace(/^\s*\{(?=\s*")/, () => `{"line":${line},"reasons":${JSON.stringify(reasons)},`)
        : [...notes.map(formatCell), row].join(delimiter);
    if (this.#file === undefined) {
      this.#file = openPrivateFile(this.#path, constants.O_WRONLY);
      writeSync(this.#file, mark + (header === undefined ? '' : addNotes(NOTES, header) + lineEnd));
    }
    writeSync(this.#file, addNotes([String(line), reasons], text).replace(/\r$/, '') + lineEnd);
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) {
      closeSync(this.#file);
    }
  }
}

const formatCell = (cell: string): string => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Returns the lines that a dry run prints. */
export const describeSamples = (samples: readonly SendableRow[]): string =>
  [
    'The first rows, as they would be sent to POST /v1/subscribers:',
    ...samples.map(({ line, subscriber }) => {
      const json = JSON.stringify(subscriber);
      return `  line ${line}: ${json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN - 1)}…` : json}`;
    }),
    'Nothing was sent.',
    '',
  ].join('\n');

/**
 * Returns lines with the first rows that have these outcomes.
 *
 * @param path file
 * @param count number of problems or rows
 */
export function describeRows(results: Results, path: string, outcomes: readonly Outcome[], count: number): string {
  const lines = [...results.entries(outcomes, PRINTED)].map(
    ({ line, code, message }: Entry) => `${path}:${line}: ${message}${code === null ? '' : ` (${code})`}\n`,
  );
  const more = count - lines.length;
  return lines.join('') + (more > 0 ? `… and ${formatCount(more)} more.\n` : '');
}

/** Returns the line to print before rows are sent. Nothing, if no row was sent before. */
export function describeBeginning({
  path,
  changed,
  applied,
  total,
}: Record<'changed' | 'applied' | 'total', number> & { path: string }): string {
  if (changed === total) {
    return '';
  }
  return changed === 0
    ? `Resuming: ${formatCount(applied)} of ${formatRows(total)} ${be(applied)} already applied.\n`
    : `${path} has changed: ${formatCount(changed)} of ${formatRows(total)} ${be(changed)} new or different. ${formatRows(applied)} ${be(applied)} already applied, and not sent again.\n`;
}

export interface Ending {
  /** Rows by outcome, before and after. */
  before: Counts;
  after: Counts;
  startedAt: number;
  path: string;
  results: string;
}

export function describeEnding({ before, after, startedAt, path, results }: Ending): string {
  const created = after.created - before.created;
  const updated = after.updated - before.updated;
  const { failed, unknown, invalid } = after;
  const applied = after.created + after.updated;
  const left = failed + unknown + after.pending;
  const rows = formatRows(applied + left, invalid > 0 ? 'valid ' : '');
  const repair = failed > 0 ? ` Rows that you correct in ${path} are sent again, and no others that are applied.` : '';
  const hasResults = applied + failed + unknown > 0;
  return [
    `Applied ${formatRows(created + updated)} in ${formatDuration((performance.now() - startedAt) / 1_000)}: ${formatCount(created)} created, ${formatCount(updated)} updated.`,
    ...(failed > 0 ? [`${formatRows(failed)} failed and changed nothing.`] : []),
    ...(unknown > 0 ? [`${formatRows(unknown)} failed and may have been applied.`] : []),
    left === 0
      ? `${applied === 1 ? '' : 'All '}${rows} of the file ${be(applied)} applied. Results: ${results}`
      : `${formatCount(applied)} of ${rows} ${be(applied)} applied.${hasResults ? ` Results, with reasons: ${results}` : ''}`,
    ...(left === 0 ? [] : [`Run the same command again to send the others.${repair}`]),
    ...(invalid > 0
      ? [
          `${formatRows(invalid, 'rejected ')}: correct ${invalid === 1 ? 'it' : 'them'} in ${path}, and run the same command again.`,
        ]
      : []),
    '',
  ].join('\n');
}
