// What an import prints and writes: its progress, the rejected rows, the outcome of every row, and how it ended.

import { closeSync, constants, lstatSync, rmSync, writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { truncate } from '../../../../src/lib/text.ts';
import { createJsonLogger } from '../../../../src/telemetry/json-logger.ts';
import type { Process } from '../command.ts';
import { formatLogLine } from '../readable-log.ts';
import { catchStopSignals } from '../signals.ts';
import {
  type Counts,
  type Entry,
  ImportError,
  openPrivateFile,
  type RejectedRow,
  type Results,
  type RowOutcome,
} from './results.ts';
import { NOTES, type Row } from './rows.ts';

/** Problems and failed rows that are printed. */
export const PRINTED = 20;

/** Rows that are shown by a dry run. */
const SAMPLES = 3;

/** Longest row that a dry run shows completely. */
const MAX_SHOWN = 300;

/** Writes a file, or nothing: a part of it would be taken for all of it. @throws {Error} of the system, with the path, or of SQLite */
export function writeLines(path: string, lines: Iterable<string>): void {
  const file = openPrivateFile(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    for (const line of lines) {
      writeFileSync(file, line); // Unlike `writeSync`, it writes all of the line.
    }
  } catch (error) {
    if (lstatSync(path).isFile()) {
      rmSync(path); // It can also be a pipe or a device.
    }
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  } finally {
    closeSync(file);
  }
}

/** Writes a line per row to a file: JSON with its outcome. */
export const writeReport = (path: string, results: Results): void =>
  writeLines(
    path,
    results.entries().map(({ code, message, ...entry }) => {
      const reason = { ...(code !== null && { code }), ...(message !== null && { message }) };
      return `${JSON.stringify({ ...entry, ...reason })}\n`;
    }),
  );

/** Form of the imported file, in which its rejected rows are written. */
export type FileForm = Pick<Row, 'header' | 'dialect'>;

/**
 * Writes the rows that the check or the service has rejected like the imported file, with their lines and reasons before them. The file of the last
 * import is replaced if it is as it was written. Another one, which a person may have corrected, is kept, and the new file gets a number.
 *
 * @param form that of a row of the file
 * @param hasRows whether there are such rows
 * @returns the sentence that names the file; empty if there is none
 */
export function writeRejected(path: string, form: FileForm, results: Results, hasRows: boolean): string {
  let target = path;
  for (let number = 2, found = identify(path); found !== undefined; number += 1, found = identify(target)) {
    if (found === results.recall('rejected')) {
      rmSync(target);
      break;
    }
    target = path.replace(/(?:\.[^./\\]*)?$/, (extension) => `-${number}${extension}`);
  }
  if (!hasRows) {
    return '';
  }
  writeLines(target, describeRejected(results.rejected(), form));
  results.remember('rejected', identify(target) ?? null);
  return `${target} has the rejected rows, with reasons.\n`;
}

/** Returns what changes whenever somebody writes a file, or replaces it; undefined if there is none. */
function identify(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Yields the lines of a file of rejected rows. */
function* describeRejected(
  rows: Iterable<RejectedRow>,
  { header, dialect: { mark, lineEnd, delimiter } }: FileForm,
): Generator<string, undefined> {
  const addNotes = (notes: readonly string[], row: string) => [...notes.map(formatCell), row].join(delimiter);
  yield mark + (header === undefined ? '' : addNotes(NOTES, header) + lineEnd);
  for (const { line, text, reasons } of rows) {
    const row =
      delimiter === undefined
        ? text.replace(/^\s*\{(?=\s*")/, () => `{"line":${line},"reasons":${JSON.stringify(reasons)},`)
        : addNotes([String(line), reasons], text);
    yield row.replace(/\r$/, '') + lineEnd;
  }
}

const formatCell = (cell: string): string => (/^[\w .-]*$/.test(cell) ? cell : `"${cell.replaceAll('"', '""')}"`);

/** Findings about a file that is valid, but probably not meant so. */
interface Findings {
  /** First line with a number that a spreadsheet has rounded. */
  rounded: number | undefined;
  /** Columns with data. */
  dataColumns: readonly string[] | undefined;
  /** Texts that stand for the absence of a value, with their number and first line. */
  placeholders: ReadonlyMap<string, { count: number; line: number }>;
}

/** Columns that a warning names. */
const NAMED = 5;

/** Returns the warnings about a file, a line each. */
export function describeWarnings(path: string, findings: Findings, mergesData: boolean): string {
  const { rounded, dataColumns = [], placeholders } = findings;
  const named = dataColumns.slice(0, NAMED).map((name) => name.replace(/\s+/g, ' '));
  const columns = [...named, ...(dataColumns.length > NAMED ? ['…'] : [])].join(', ');
  const warnings = [
    rounded && `:${rounded}: warning: a spreadsheet has rounded a number; export it as text.`,
    !mergesData &&
      columns &&
      `: warning: the service replaces data as a whole, so rows with ${columns} delete its other members. To keep them, use --merge-data.`,
    ...[...placeholders].map(([text, { count, line }]) => {
      const values = count === 1 ? 'value is' : 'values are';
      return `:${line}: warning: ${formatCount(count)} ${values} ${text}. To read such values as empty, use --null "${text}".`;
    }),
  ];
  return warnings.flatMap((warning) => (warning ? `${path}${warning}\n` : [])).join('');
}

/** Returns the lines that a dry run prints: what has changed since the last import, and the first rows that would be sent. */
export function describeDryRun(results: Results, resultsPath: string): string {
  const { earlier, changed } = results;
  const { created, updated, failed, unknown, uncleared, pending } = results.counts();
  const gone = results.countGone();
  const left = pending + failed + unknown + uncleared;
  const added = created + updated + left + gone - earlier;
  const compared = [
    [added, 'new'],
    [changed - added, 'changed'],
    [created + updated, 'applied and unchanged'],
    [failed, 'rejected before and unchanged'],
    [pending - changed + unknown + uncleared, 'not applied yet'],
    [gone, 'no longer in the file'],
  ] as const;
  const kinds = compared.flatMap(([count, kind]) => (count > 0 ? [`${formatCount(count)} ${kind}`] : []));
  const samples = results
    .pending()
    .take(SAMPLES)
    .map(({ line, subscriber }) => `  line ${line}: ${truncate(JSON.stringify(subscriber), MAX_SHOWN)}`);
  return [
    ...(earlier > 0 ? [`Compared with ${resultsPath}: ${kinds.join(', ')}. ${formatRows(left)} would be sent.`] : []),
    ...(left > 0 ? ['The first rows, as they would be sent to POST /v1/subscribers:', ...samples] : []),
    'Nothing was sent.',
    '',
  ].join('\n');
}

/** Returns the line about a row that has a problem. */
export const describeRow = (path: string, { line, code, message }: Pick<Entry, 'line' | 'code' | 'message'>): string =>
  `${path}:${line}: ${message}${code === null ? '' : ` (${code})`}`;

/**
 * Returns lines with the first rows that have these outcomes.
 *
 * @param path file
 * @param count number of problems or rows
 * @param printed lines to leave out. @default none
 */
export function describeRows(
  results: Results,
  path: string,
  outcomes: readonly RowOutcome[],
  count: number,
  printed: readonly string[] = [],
): string {
  const lines = [...results.entries(outcomes, PRINTED)].map((entry) => describeRow(path, entry));
  const more = count - lines.length;
  const others = lines.filter((line) => !printed.includes(line)).map((line) => `${line}\n`);
  return others.join('') + (more > 0 ? `… and ${formatCount(more)} more.\n` : '');
}

/** Returns the line to print before rows are sent after a read. @param rate maximum calls per second */
export function describeMergeCost(rows: number, rate: number | undefined): string {
  const time = rate === undefined ? '' : `, about ${formatDuration((2 * rows) / rate)} at --rate ${rate}`;
  return `--merge-data makes 2 calls per row with data: up to ${formatCount(2 * rows)} calls${time}.\n`;
}

/** Returns the line to print before rows are sent. Nothing, if no row was sent before. */
export function describeBeginning(path: string, results: Results, applied: number, total: number): string {
  const { changed, isRestarting } = results;
  if (changed === total) {
    return '';
  }
  if (isRestarting) {
    return `Continuing the restart: ${formatCount(applied)} of ${formatRows(total)} ${be(applied)} already sent again. To begin over, delete the results file.\n`;
  }
  return changed === 0
    ? `Resuming: ${formatCount(applied)} of ${formatRows(total)} ${be(applied)} already applied.\n`
    : `${path} has changed: ${formatCount(changed)} of ${formatRows(total)} ${be(changed)} new or different. ${formatRows(applied)} ${be(applied)} already applied, and not sent again.\n`;
}

/**
 * Returns the lines to print at the end.
 *
 * @param before rows by outcome at the beginning
 * @param seconds duration
 * @param options paths of the imported file and the results, and whether all rows were to be sent again
 */
export function describeEnding(
  before: Counts,
  after: Counts,
  seconds: number,
  { path, results, isPiped, restarts }: { path: string; results: string; isPiped: boolean; restarts: boolean },
): string {
  const created = after.created - before.created;
  const updated = after.updated - before.updated;
  const { failed, unknown, invalid, uncleared } = after;
  const applied = after.created + after.updated;
  const left = failed + unknown + uncleared + after.pending;
  const rows = formatRows(applied + left, invalid > 0 ? 'valid ' : '');
  const wrong = failed + invalid;
  const command = restarts && after.pending === 0 ? 'the command without --restart' : 'the same command';
  const hasResults = applied + failed + unknown + uncleared > 0;
  const lines = [
    `Applied ${formatRows(created + updated)} in ${formatDuration(seconds)}: ${formatCount(created)} created, ${formatCount(updated)} updated.`,
    failed > 0 && `${formatRows(failed)} failed and changed nothing.`,
    unknown > 0 && `${formatRows(unknown)} failed and may have been applied.`,
    uncleared > 0 &&
      `${formatRows(uncleared)} ${uncleared === 1 ? 'has' : 'have'} values that the service should have cleared. ${CAUSE}`,
    left === 0
      ? `${applied === 1 ? '' : 'All '}${rows} of the file ${be(applied)} applied. Results: ${results}`
      : `${formatCount(applied)} of ${rows} ${be(applied)} applied.${hasResults ? ` Results, with reasons: ${results}` : ''}`,
    left > failed + uncleared && `Run ${command} again to send the others.`,
    wrong > 0 &&
      `${formatRows(wrong, 'rejected ')}: correct ${wrong === 1 ? 'it' : 'them'} in ${isPiped ? 'the source' : path}, and run ${command} again.`,
  ];
  return lines.flatMap((line) => (line === false ? [] : `${line}\n`)).join('');
}

const CAUSE = 'Versions before 31 October 2025 clear only the email, and none clears channels. They are sent again.';

const TERMINAL_MS = 200;
const LOG_MS = 10_000;

/** Period of the speed that is shown, so that a pause an hour ago doesn't distort the estimate. */
const WINDOW_MS = 20_000;

/** Returns to the beginning of the line, and erases it. */
const ERASE = '\r\u001b[K';

/**
 * Shows progress on standard error until it is disposed: one line that is rewritten on a terminal, otherwise a line every few seconds.
 *
 * @param describe returns the current line
 */
export function showProgress({ stderr }: Process, describe: (columns: number) => string): Disposable {
  const { isTTY } = stderr;
  const print = () =>
    stderr.write(isTTY ? `${ERASE}${describe((stderr.columns || 80) - 1)}` : `${describe(Infinity)}\n`);
  const timer = setInterval(print, isTTY ? TERMINAL_MS : LOG_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      stderr.write(isTTY ? ERASE : '');
    },
  };
}

/** Prints a line above the progress if that is shown. @param output standard output or standard error. @default standard error */
export function printNote({ stderr }: Process, text: string, output: NodeJS.WritableStream = stderr): void {
  stderr.write(stderr.isTTY ? ERASE : '');
  output.write(`${text}\n`);
}

/** Creates a logger whose lines are notes. */
export const createNoteLogger = (host: Process, level: 'error' | 'warn'): Logger =>
  createJsonLogger(level, { write: (line) => printNote(host, formatLogLine(line, host.stderr).trimEnd()) });

/** Prints a note and aborts at the first signal, also at the end of the terminal session, and ends the process at the next one. */
export const stopAtSignals = (host: Process, stopping: AbortController, text: string, reason: string): void =>
  catchStopSignals(host, {
    stop() {
      printNote(host, text);
      stopping.abort(new ImportError(reason));
    },
    quit: () => host.exit(1), // All results are stored by then.
    signals: ['SIGINT', 'SIGTERM', 'SIGHUP'],
  });

/** Rows that are to be applied, that are applied, also by earlier imports, and that were sent and have failed. */
type Progressing = Readonly<Record<'total' | 'applied' | 'failed', number>>;

/** Creates the function that describes the progress of sending. A narrow terminal shows the beginning, so what matters most comes first. */
export function createDescription(counts: Progressing): (columns: number) => string {
  const samples: { at: number; done: number }[] = [{ at: performance.now(), done: doneOf(counts) }];

  function speed(): number {
    const now = { at: performance.now(), done: doneOf(counts) };
    samples.push(now);
    while (samples.length > 2 && now.at - (samples[0]?.at ?? 0) > WINDOW_MS) {
      samples.shift();
    }
    const [first = now] = samples;
    return now.at > first.at ? ((now.done - first.done) * 1_000) / (now.at - first.at) : 0;
  }

  return (columns) => {
    const done = doneOf(counts);
    const perSecond = speed();
    const left = perSecond > 0 ? formatDuration((counts.total - done) / perSecond) : 'unknown time';
    return [
      `${Math.floor((done / counts.total) * 100)} %`,
      `${left} left`,
      ...(counts.failed > 0 ? [`${formatCount(counts.failed)} failed`] : []),
      `${formatCount(done)} of ${formatCount(counts.total)}`,
      `${formatCount(Math.round(perSecond))}/s`,
    ]
      .join('  ')
      .slice(0, columns);
  };
}

const doneOf = ({ applied, failed }: Progressing): number => applied + failed;

/** Formats a number: `10,000`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/**
 * Formats a number with its noun: `1 row`, `10,000 rows`.
 *
 * @param kind adjective with a space after it. @default none
 */
export const formatRows = (count: number, kind = ''): string =>
  `${formatCount(count)} ${kind}${count === 1 ? 'row' : 'rows'}`;

const be = (count: number): string => (count === 1 ? 'is' : 'are');

/** Formats a duration: `45 s`, `12 min`, `2 h 5 min`. */
function formatDuration(seconds: number): string {
  if (seconds < 100) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
