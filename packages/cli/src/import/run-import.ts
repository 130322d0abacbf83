// Checks a file of subscribers, and sends its rows.

import { lstatSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { suggest } from '../../../../src/lib/words.ts';
import { isUpstreamError } from '../../../../src/upstream/errors.ts';
import type { CommandLine, Process } from '../command.ts';
import { ConfigError, readNamedFile } from '../config/problem.ts';
import { findFileProblem } from '../files.ts';
import { findTarget } from '../find-service.ts';
import { withoutControls } from '../text.ts';
import { sendTogether } from './bulk.ts';
import { readPace } from './pace.ts';
import {
  createDescription,
  createNoteLogger,
  describeBeginning,
  describeDryRun,
  describeEnding,
  describeMergeCost,
  describeRow,
  describeRows,
  describeWarnings,
  type FileForm,
  formatCount,
  formatRows,
  PRINTED,
  printNote,
  showProgress,
  stopAtSignals,
  writeRejected,
  writeReport,
} from './report.ts';
import { explainFileError, ImportError, Results } from './results.ts';
import { FIELD_NAMES, isField } from './row-rules.ts';
import { type Columns, DELIMITER, type Format, GZIP, type Row, readRows } from './rows.ts';
import { sendRows } from './send.ts';
import { ImportService } from './service.ts';

/** Flags with which V8 collects garbage before the heap has grown to several times of what is in use: an import of 100,000 rows takes 140 MB instead of 380. */
const HEAP_FLAGS = '--heap-growing-percent=30 --semi-space-growth-factor=1';

/** Matches a row with a long number as spreadsheets show it, and then export it: `1.23457E+11`. */
const ROUNDED = /(?:^|[,;|\t"])-?\d(?:[.,]\d+)?E\+\d+(?:[,;|\t"]|$)/i;

/** Forms of the file by `--format`, or the end of its name. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['json', 'jsonl'],
]);

/** Argument that stands for standard input. */
const STDIN = '-';

/** Maximum size of the file of `--map-file`. */
const MAX_MAP_BYTES = 256 * 1024;

/**
 * Checks a file of subscribers, and sends its rows. The exit code is 0 if all are applied, 1 if some are not, and 2 if the file or the configuration is
 * invalid.
 */
export async function runImport(commandLine: CommandLine, host: Process): Promise<void> {
  const options = readOptions(commandLine, host);
  const { isDryRun, isPiped, report, stopping } = options;
  setFlagsFromString(HEAP_FLAGS);
  try {
    const target = isDryRun ? undefined : await findTarget(commandLine, host, 'to send subscribers to', !isPiped);
    const hint = target?.settings.isProduction ? '' : ' Press Ctrl-C again to quit now.';
    stopAtSignals(host, stopping, `Stopping: finishing rows in flight.${hint}`, 'Nothing was sent.');
    using results = new Results(options.results, options);
    const form = await check(results, options, host);
    let exitCode = 2;
    if (form !== undefined && target !== undefined) {
      exitCode = await send(target, results, options, host);
    } else if (form !== undefined) {
      host.stdout.write(withoutControls(describeDryRun(results, options.results)));
      exitCode = 0;
    }
    if (report !== undefined) {
      writeReport(report, results);
    }
    if (form !== undefined && options.rejected !== undefined) {
      const { failed, invalid } = results.counts();
      host.stdout.write(writeRejected(options.rejected, form, results, results.isKept && failed + invalid > 0));
    }
    if (exitCode > 0) {
      host.exitCode = exitCode;
    }
  } catch (error) {
    throw explainFileError(error, options.results, isDryRun);
  }
}

type Target = Awaited<ReturnType<typeof findTarget>>;

type ImportOptions = ReturnType<typeof readOptions>;

/** Reads the options of the command. @throws {ConfigError} with all problems */
function readOptions(commandLine: CommandLine, { stdin }: Process) {
  const { options, problems: usage } = commandLine;
  const [file = ''] = commandLine.args;
  const isPiped = file === STDIN;
  const path = isPiped ? 'standard input' : file;
  const { results = `${path}.results.db`, report } = options;
  const extension = isPiped ? `.${options.format}` : extname(path.replace(GZIP, ''));
  const format = FORMATS.get(options.format ?? extension.slice(1).toLowerCase());
  const isDryRun = options['dry-run'] !== undefined;
  const rejectedPath = `${isPiped ? results : path}.rejected${extension.replace(/^\.json$/i, '.jsonl')}`;
  const { rejected = isDryRun ? undefined : rejectedPath } = options;
  const resultsProblem = findFileProblem(results, lstatSync); // SQLite would follow a symbolic link.
  const problems = [...usage, ...(resultsProblem === undefined ? [] : [`--results: ${resultsProblem}.`])];
  if (isPiped && (options.format === undefined || options.results === undefined)) {
    problems.push('Standard input has no name: add --format and --results.');
  } else if (format === undefined && usage.length === 0) {
    problems.push(
      options.format === undefined
        ? 'The name of the file must end with .csv, .tsv, .jsonl or .json, also before .gz. Or set --format.'
        : '--format must be csv, tsv, jsonl or json.',
    );
  }
  if (isPiped && options['key-file'] === STDIN) {
    problems.push('Standard input can have the rows or the key, not both. Name a file with --key-file.');
  }
  const delimiter = options.delimiter?.replace(/^(?:tab|\\t)$/i, '\t');
  if (delimiter !== undefined && !DELIMITER.test(delimiter)) {
    problems.push('--delimiter must be one character such as ; or |, or tab.');
  }
  const columns = readColumns(commandLine, problems);
  const pace = readPace(options, problems);
  const files = [path, results, rejected, report].flatMap((file) => (file === undefined ? [] : [resolve(file)]));
  if (new Set(files).size < files.length) {
    problems.push('--results, --rejected and --report must name different files, and not the imported one.');
  }
  const isBulk = options.bulk !== undefined;
  const mergesData = options['merge-data'] !== undefined;
  if (isBulk && mergesData) {
    problems.push('Use either --bulk or --merge-data, not both.');
  }
  if (format === undefined || problems.length > 0) {
    throw new ConfigError(problems);
  }
  return {
    /** Path, or a name for standard input. */
    path,
    isPiped,
    source: { file: isPiped ? stdin : path, format, delimiter, columns },
    results,
    /** File for the rows that the check or the service rejects. A dry run has none unless it is named. */
    rejected,
    /** Whether to send the valid rows if others are invalid. */
    skipsInvalid: options['skip-invalid'] !== undefined,
    report,
    ...pace,
    isDryRun,
    /** Whether to send rows together. */
    isBulk,
    /** Whether to keep members of `data` that a row doesn't have. */
    mergesData,
    /** Whether to send rows again that are applied. */
    restarts: options.restart !== undefined,
    /** Aborted when no more rows are to be checked or sent. */
    stopping: new AbortController(),
  };
}

/**
 * Reads the options about columns.
 *
 * @param problems receives those of the options
 * @throws {ConfigError} if the file with names can't be read
 */
function readColumns({ options, lists }: CommandLine, problems: string[]): Columns {
  const { 'map-file': file } = options;
  const text = file === undefined ? '' : readNamedFile(file, MAX_MAP_BYTES, `--map-file: the file ${file}`);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const ignored = (lists.ignore ?? []).map((name) => `${name}=`);
  const fields = new Map<string, string>();
  for (const entry of [...(lists.map ?? []), ...lines, ...ignored]) {
    const [, name = '', field = ''] = /^\s*(.*\S)\s*=\s*([^=]*?)\s*$/s.exec(entry) ?? [];
    if (name === '') {
      problems.push('--map, or a line of --map-file, must be COLUMN=FIELD, such as --map "E-Mail=email".');
    } else if (field !== '' && !isField(field)) {
      problems.push(`--map: "${field}" is not a field${suggest(field, FIELD_NAMES)}. For any other, use "data.NAME".`);
    } else if (fields.has(name) || (field !== '' && [...fields.values()].includes(field))) {
      problems.push(`--map: ${fields.has(name) ? `the column "${name}"` : `the field "${field}"`} is named twice.`);
    }
    fields.set(name, field);
  }
  return { fields, nulls: new Set(lists.null) };
}

/** Checks all rows, and prints the problems. Returns the form of the file; undefined if nothing can be sent. */
async function check(
  results: Results,
  { path, source, skipsInvalid, report, stopping, mergesData }: ImportOptions,
  host: Process,
): Promise<FileForm | undefined> {
  const checked = { rows: 0 };
  using progress = showProgress(host, () => `Checking ${path}: ${formatRows(checked.rows)}`);
  const found = await checkRows(readRows(source, stopping.signal), results, checked, stopping.signal);
  const { rows, form, problems, isComplete } = found;
  progress[Symbol.dispose]();
  host.stderr.write(describeWarnings(path, found, mergesData) + describeRows(results, path, ['invalid'], problems));
  if (problems === 0) {
    host.stdout.write(`${path}: ${formatRows(rows)}, ${rows === 1 ? '' : 'all '}valid.\n`);
    return form;
  }
  const { invalid } = results.counts();
  if (skipsInvalid && isComplete && rows > invalid) {
    host.stdout.write(`${path}: ${formatRows(rows - invalid)} valid, ${formatCount(invalid)} rejected.\n`);
    return form;
  }
  const count = problems === 1 ? '1 problem' : `${formatCount(problems)} problems`;
  const advice = report === undefined ? ' --report FILE lists all of them.' : ` All of them are in ${report}.`;
  host.stderr.write(`${count}, so nothing was sent.${problems > PRINTED ? advice : ''}\n`);
  return undefined;
}

const isOfData = (column: string): boolean => /^data(?:\.|$)/.test(column);

/** Adds the rows and their problems to the results, and counts the rows in `checked`. `isComplete` is false if a part of the file couldn't be read. */
export async function checkRows(
  all: AsyncIterable<Row>,
  results: Results,
  checked: { rows: number },
  stopping?: AbortSignal,
) {
  let form: FileForm | undefined;
  let dataColumns: string[] | undefined;
  const placeholders = new Map<string, { count: number; line: number }>();
  let rounded: number | undefined;
  let problems = 0;
  let isComplete = true;
  for await (const row of all) {
    stopping?.throwIfAborted();
    const { line, subscriber, text } = row;
    checked.rows += 1;
    form ??= row;
    rounded ??= ROUNDED.test(text) ? line : undefined;
    dataColumns ??= isRecord(subscriber?.data) ? (row.columns ?? ['data']).filter(isOfData) : undefined;
    for (const placeholder of row.placeholders ?? []) {
      const first = placeholders.get(placeholder) ?? { count: 0, line };
      placeholders.set(placeholder, { ...first, count: first.count + 1 });
    }
    const reasons = [...row.problems];
    const first = subscriber && results.add({ line, subscriber, text });
    if (first !== undefined) {
      reasons.push(`subscriberId is that of line ${first} too. A subscriber must have one row.`);
    }
    if (reasons.length > 0) {
      results.reject({ line, subscriberId: subscriber?.subscriberId ?? row.subscriberId, text }, reasons);
    }
    problems += reasons.length;
    isComplete &&= row.isLast !== true;
  }
  if (checked.rows === 0) {
    problems = 1;
    results.reject({ line: 1 }, ['The file has no rows.']);
  }
  return { rows: checked.rows, form, problems, isComplete, rounded, dataColumns, placeholders };
}

/** Sends the rows that are not applied. Returns the exit code. */
async function send(target: Target, results: Results, options: ImportOptions, host: Process): Promise<number> {
  const { path, results: resultsPath, stopping, mergesData, isBulk } = options;
  const note = (text: string) => printNote(host, text);
  const logger = createNoteLogger(host, 'warn');
  await using service = new ImportService({ ...options, ...target, logger, note, stopping: stopping.signal });
  results.begin(service.address, await readEnvironmentId(service));
  const before = results.counts();
  const applied = before.created + before.updated;
  const total = applied + before.failed + before.unknown + before.pending + before.uncleared;
  if (applied === total) {
    host.stdout.write(`All rows are already applied: see ${resultsPath}. To send them again, use --restart.\n`);
    return before.invalid === 0 ? 0 : 1;
  }
  host.stdout.write(describeBeginning(path, results, applied, total));
  if (mergesData) {
    host.stdout.write(describeMergeCost(total - applied, options.rate));
  }
  const counts = { total, applied, failed: 0 };
  using progress = showProgress(host, createDescription(counts));
  const startedAt = performance.now();
  let failure: ImportError | undefined;
  const printed = new Map<string, string>();
  function onFailure(line: number, { code, message }: { code: string; message: string }): void {
    if (!printed.has(code)) {
      const text = describeRow(path, { line, code, message });
      printed.set(code, text);
      note(text);
    }
  }
  try {
    const concurrency = target.settings.maxConcurrentCallsPerKey;
    const sending = { ...options, results, service, progress: counts, concurrency, onFailure, note };
    await sendRows({ ...sending, sendTogether: isBulk ? sendTogether : undefined });
  } catch (error) {
    const explained = explainFileError(error, resultsPath);
    if (!(explained instanceof ImportError)) {
      throw explained;
    }
    failure = explained;
  }
  progress[Symbol.dispose]();
  const after = results.counts();
  const listed = after.failed + after.unknown + after.uncleared;
  const outcomes = ['failed', 'unknown', 'uncleared'] as const;
  host.stderr.write(describeRows(results, path, outcomes, listed, [...printed.values()]));
  if (failure !== undefined) {
    host.stderr.write(`${failure.message}\n`);
  }
  host.stdout.write(describeEnding(before, after, (performance.now() - startedAt) / 1_000, options));
  return failure === undefined && counts.applied === total && after.invalid + after.uncleared === 0 ? 0 : 1;
}

/**
 * Reads the notification groups, which shows whether the service is reachable and accepts the key before anything is written.
 *
 * @returns the id of the key's environment; undefined if there are no groups
 * @throws {ImportError} if the service is unreachable, or rejects the key
 */
async function readEnvironmentId(service: ImportService): Promise<string | undefined> {
  const groups = await service.readGroups();
  if (!isUpstreamError(groups)) {
    const id: unknown = groups[0]?._environmentId; // Not checked by the client.
    return typeof id === 'string' ? id : undefined;
  }
  // Another failure can concern only this read, which isn't what the key is for.
  if (['UNAUTHENTICATED', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'].includes(groups.code)) {
    throw new ImportError(`${groups.message} Nothing was sent. notigraph doctor examines the connection and the key.`);
  }
  return undefined;
}
