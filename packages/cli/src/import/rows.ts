// Reads the rows of CSV, TSV and JSON one by one, in little memory.

import { open } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CsvError, type Parser, parse } from 'csv-parse';
import { z } from 'zod';
import { assertRegularFile, toFileError } from '../../../../src/files/text-file.ts';
import { errorCodeOf, orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { ConfigError } from '../config/problem.ts';
import { type CheckedRow, checkRow, describeUnknown, fieldOf, isPlaceholder, JSON_FIELDS } from './row-rules.ts';

/** Matches the end of the name of a compressed file. */
export const GZIP = /\.gz$/i;

const CHUNK_BYTES = 256 * 1024;

/** Length of the first part, in characters, if the text isn't shorter. It shows the form of the rows. */
const HEAD_LENGTH = 64 * 1024;

/** Form of a file. JSON is an object per line, or an array of objects. */
export type Format = 'csv' | 'tsv' | 'jsonl';

/** File of an import, and how it is read. */
export interface Source {
  /** Path, or standard input. */
  file: string | Readable;
  format: Format;
  /** Delimiter of CSV and TSV. @default that of the first line */
  delimiter?: string | undefined;
  /** @default columns have the names of their fields */
  columns?: Columns | undefined;
}

/** Which column of a file, or member of its rows, is which field. */
export interface Columns {
  /** Fields of columns that have other names; empty for those that are ignored. */
  fields: ReadonlyMap<string, string>;
  /** Cells that are read as empty ones, and members that are left out. */
  nulls: ReadonlySet<unknown>;
}

/** Form in which a file is written, so that its rejected rows can be written in the same one. */
interface Dialect {
  /** Byte order mark, and Excel's line with the delimiter. Empty if there are none. */
  mark: string;
  lineEnd: string;
  /** Absent in JSON. */
  delimiter: string | undefined;
}

interface RawRow {
  /** Line in which it starts, from 1. */
  line: number;
  /** The row as it is written in the file, without notes, and without line breaks in JSON. */
  text: string;
  /** The header as it is written. Absent in JSON. */
  header?: string;
  /** Fields of the columns, such as `data.plan`. Absent in JSON. */
  columns?: readonly string[];
  /** Fields. Absent if there are problems. */
  value?: unknown;
  /** Texts with which programs write that there is no value, if a field is such a text. */
  placeholders?: readonly string[];
  /** Sentences without values of the row, which are personal data. @default none */
  problems?: readonly string[];
  /** Whether the rest of the file can't be read. @default false */
  isLast?: boolean;
}

export type Row = RawRow & CheckedRow & { dialect: Dialect };

/** Columns with which a file of rejected rows begins. They are ignored, so that it can be imported once its rows are corrected. */
export const NOTES: readonly string[] = ['line', 'reasons'];

/** The same as members of JSON. */
const JSON_NOTES = /^\{"line":\d+,"reasons":"(?:[^"\\]|\\.)*",/;

/** Maximum length of a row in characters, so that an unclosed quote can't read the whole file into memory. */
const MAX_ROW_LENGTH = 256 * 1024;

/** Stands for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Pattern of a delimiter: a character that no unquoted note has. */
const SEPARATOR = '[^\\p{L}\\p{N}\\s"._-]|\\t';

export const DELIMITER = new RegExp(`^(?:${SEPARATOR})$`, 'u');

/** Matches what can stand before the header. Excel reads and writes the line `sep=;`. */
const MARK = new RegExp(`^\\ufeff?(?:"?sep=(${SEPARATOR})"?(?:\\r\\n|\\r|\\n))?`, 'iu');

/** Delimiters that are detected. Spreadsheets of some countries write semicolons. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/**
 * Reads and checks rows one by one, in little memory.
 *
 * @param stopping aborted to read no more
 * @throws {ConfigError} if the file can't be read, or isn't a regular file
 */
export async function* readRows(source: Source, stopping?: AbortSignal): AsyncGenerator<Row> {
  const { columns = { fields: new Map(), nulls: new Set() } } = source;
  const chunks = readText(source.file, stopping);
  const { value: head = '' } = await chunks.next();
  const dialect = detectDialect(head, source);
  const rest = head.slice(dialect.mark.length);
  const text = continued(rest, chunks);
  const readJson = /^\s*\[/.test(rest) ? readJsonArrays : readJsonLines;
  for await (const raw of dialect.delimiter === undefined ? readJson(text, columns) : readCsv(text, dialect, columns)) {
    const row = { ...raw, dialect };
    const isText = !`${raw.header}${raw.text}`.includes(REPLACEMENT);
    const problems = isText ? raw.problems : ['The file is not UTF-8 here. Save it as UTF-8.'];
    yield problems === undefined ? { ...row, ...checkRow(raw.value) } : { ...row, problems };
  }
}

/**
 * Yields the text of a file, with its byte order mark. Parts are long, because a pipe can have small ones.
 *
 * @param file path, or standard input
 * @param stopping aborted to read no more, also while nothing arrives
 * @throws {ConfigError} if it can't be read, is damaged, or isn't a regular file
 */
async function* readText(file: string | Readable, stopping?: AbortSignal): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  try {
    const stream = typeof file === 'string' ? await openFile(file) : file;
    const bytes: AsyncIterable<Buffer> = stopping === undefined ? stream : addAbortSignal(stopping, stream);
    for await (const chunk of bytes) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= HEAD_LENGTH) {
        yield text;
        text = '';
      }
    }
  } catch (error) {
    stopping?.throwIfAborted();
    const reason = errorCodeOf(error)?.startsWith('Z_')
      ? 'is damaged, incomplete or not compressed by gzip'
      : toFileError(error).message;
    throw new ConfigError([`${typeof file === 'string' ? `The file ${file}` : 'Standard input'} ${reason}.`]);
  }
  yield text + decoder.decode();
}

async function openFile(path: string): Promise<Readable> {
  assertRegularFile(path);
  const file = (await open(path)).createReadStream({ highWaterMark: CHUNK_BYTES });
  return GZIP.test(path) ? pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : file; // Errors are those of the result, too.
}

/** Yields a text and the rest of the chunks; undefined at the end. */
async function* continued(text: string, chunks: AsyncGenerator<string, undefined>): AsyncGenerator<string | undefined> {
  try {
    yield text;
    yield* chunks;
    yield undefined;
  } finally {
    await chunks.return(undefined); // Closes the file, also if only the text was read.
  }
}

/** Detects the dialect in the first line; that of CSV in what isn't quoted there. */
function detectDialect(head: string, { format, delimiter }: Source): Dialect {
  const [mark = '', named] = MARK.exec(head) ?? [];
  const quoted = format === 'jsonl' ? /$^/ : /"[^"]*"?/g;
  const [, first = '', lineEnd = '\n'] =
    /^([^\r\n]*)(\r?\n|\r)?/.exec(head.slice(mark.length).replace(quoted, '')) ?? [];
  const counts = DELIMITERS.map((each) => first.split(each).length);
  const detected = format === 'tsv' ? '\t' : DELIMITERS[counts.indexOf(Math.max(...counts))];
  return { mark, lineEnd, delimiter: format === 'jsonl' ? undefined : (delimiter ?? named ?? detected) };
}

type JsonReader = (chunks: AsyncIterable<string | undefined>, columns: Columns) => AsyncGenerator<RawRow>;

/** Reads JSON lines: one object per line. Empty lines are skipped. */
const readJsonLines: JsonReader = async function* (chunks, columns) {
  let rest = '';
  let line = 0;
  for await (const chunk of chunks) {
    const lines = (rest + (chunk ?? '\n')).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_ROW_LENGTH + 1); // What follows would only take memory.
    for (const written of lines) {
      line += 1;
      if (written.trim() !== '') {
        const text = written.replace(JSON_NOTES, '{');
        yield { line, text, ...parseRow(text, 'line', columns) };
      }
    }
  }
};

/** Reads the elements of JSON arrays, which can span lines. One that isn't valid doesn't end it, unless its quotes or brackets aren't closed. */
const readJsonArrays: JsonReader = async function* (chunks, columns) {
  let [line, start, depth, text] = [1, 1, 0, ''];
  let [isQuoted, isEscaped] = [false, false];
  for await (const chunk of chunks) {
    for (const [token] of (chunk ?? '').matchAll(/["\\[\]{},\n]|[^"\\[\]{},\n]+/g)) {
      const isSeparator = !isQuoted && (depth === 0 ? token === '[' : depth === 1 && (token === ',' || token === ']'));
      if (isSeparator && text !== '') {
        yield { line: start, text: text.trim().replace(/\s*\n\s*/g, ' '), ...parseRow(text, 'element', columns) };
        text = '';
      } else if (!isSeparator && (text === '' ? token.trim() !== '' : text.length <= MAX_ROW_LENGTH)) {
        start = text === '' ? line : start;
        text += token;
      }
      if (!isQuoted) {
        depth += Number(token === '[' || token === '{') - Number(token === ']' || token === '}');
      }
      isQuoted = token === '"' && !isEscaped ? !isQuoted : isQuoted;
      isEscaped = isQuoted && token === '\\' && !isEscaped;
      line += Number(token === '\n');
    }
  }
  if (depth > 0 || text !== '') {
    const problem = 'The JSON array does not end. The file is incomplete, or a quote or bracket is not closed here.';
    yield { line: text === '' ? line : start, text: '', problems: [problem], isLast: true };
  }
};

/** Reads the object of a line or an element. */
function parseRow(text: string, noun: string, { fields, nulls }: Columns): Omit<RawRow, 'line' | 'text'> {
  const value = text.length > MAX_ROW_LENGTH ? undefined : parseJson(text);
  if (isRecord(value)) {
    const members = Object.entries(value)
      .map(([name, each]): Member => [fields.has(name) ? pathOf(fields.get(name)) : [name], each])
      .toSorted(([a], [b]) => a.length - b.length); // The object `data` comes before members that are added to it.
    return toFields(members, nulls);
  }
  const problem =
    text.length > MAX_ROW_LENGTH
      ? `is longer than ${MAX_ROW_LENGTH / 1024} KiB.`
      : `is not valid JSON. Each ${noun} must be a complete object.`;
  return value === undefined ? { problems: [`The ${noun} ${problem}`] } : { value };
}

/** Returns the value of a JSON text, or undefined if it is not valid. Messages of the parser would quote it. */
const parseJson = (text: string): unknown => orUndefined(() => JSON.parse(text));

/** Problems for which reading can't continue, by the code of the parser. */
const SYNTAX: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quote in this row is not closed.',
  CSV_MAX_RECORD_SIZE: `The row is longer than ${MAX_ROW_LENGTH / 1024} KiB. Check that every quote in it is closed.`,
  CSV_INVALID_CLOSING_QUOTE: 'A quoted cell must end with its closing quote. Write a quote in it twice.',
  INVALID_OPENING_QUOTE: 'A cell with a quote must be in quotes. Write a quote in it twice.',
};

/** Row as the parser returns it: its cells, and its text with the first character of the line end. */
const CSV_RECORD = z.object({ record: z.array(z.string()), raw: z.string() });
type CsvRecord = z.output<typeof CSV_RECORD>;

/** Reads CSV (RFC 4180) with a header. Stops at the first syntax error, because everything that follows could be misread. */
async function* readCsv(
  chunks: AsyncIterable<string | undefined>,
  { delimiter = '', mark }: Dialect,
  { fields, nulls }: Columns,
): AsyncGenerator<RawRow> {
  const records: CsvRecord[] = [];
  const parser = createParser(delimiter, records);
  const notes = new RegExp(`^(?:(?:"(?:[^"]|"")*"|[^"\\${delimiter}]*)\\${delimiter}){${NOTES.length}}`);
  let hasNotes = false;
  let header = '';
  let paths: readonly (readonly string[])[] | undefined;
  let columns: readonly string[] = [];
  let line = mark.split(/\r\n|\r|\n/).length;
  const empty = new Set([...nulls, '']);
  for await (const chunk of chunks) {
    const failure = await parseChunk(parser, chunk);
    for (const { record, raw } of records.splice(0)) {
      const start = line;
      line += 1 + record.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
      if (record.length === 1 && record[0]?.trim() === '') {
        continue; // Empty line.
      }
      hasNotes ||= paths === undefined && NOTES.every((name, i) => record[i] === name);
      const cells = hasNotes ? record.slice(NOTES.length) : record;
      const text = raw.replace(hasNotes ? notes : '', '').replace(/[\r\n]$/, '');
      if (paths === undefined) {
        const names = cells.map((name) => name.trim());
        columns = names.map((name) => fields.get(name) ?? name);
        paths = columns.map(pathOf);
        header = text;
        const problems = findHeaderProblems(names, fields);
        if (problems.length > 0) {
          yield { line: start, text, problems, isLast: true }; // Every row would have the same problem.
          return;
        }
      } else if (cells.length === paths.length) {
        const members = paths.map((path, i): Member => [path, toValue(path, cells[i] ?? '')]);
        yield { line: start, text, header, columns, ...toFields(members, empty) };
      } else {
        const problem = `The row has ${cells.length} cells, but the header has ${paths.length}.`;
        yield { line: start, text, header, problems: [problem] };
      }
    }
    if (failure !== undefined) {
      const problem = SYNTAX[failure] ?? `The row is not valid CSV (${failure}).`;
      yield { line, text: '', problems: [problem], isLast: true };
      return;
    }
  }
  if (paths === undefined) {
    const problem = 'The file is empty. Its first line must name the columns.';
    yield { line: 1, text: '', problems: [problem], isLast: true };
  }
}

function createParser(delimiter: string, records: CsvRecord[]): Parser {
  const parser = parse({
    delimiter,
    raw: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true, // Reported with its line, and not as the end of the file.
    max_record_size: MAX_ROW_LENGTH,
    // Collected here instead of read from the stream, which drops rows before an error.
    on_record(record: unknown) {
      records.push(CSV_RECORD.parse(record)); // Its declared type is that without `raw`.
      return null;
    },
  });
  parser.on('error', () => {}); // Also passed to the callback of `write`.
  return parser.resume();
}

/** Parses a chunk, or the end. Returns the code of a syntax error. */
async function parseChunk(parser: Parser, chunk: string | undefined): Promise<string | undefined> {
  const error = await new Promise<Error | null | undefined>((resolve) =>
    chunk === undefined ? parser.end(resolve) : parser.write(chunk, resolve),
  );
  if (error == null || error instanceof CsvError) {
    return error?.code;
  }
  throw error;
}

function findHeaderProblems(names: readonly string[], fields: Columns['fields']): string[] {
  const targets = names.map((name) => fields.get(name) ?? name);
  const known = targets.map(fieldOf).filter((field) => field !== undefined);
  if (known.length === 0) {
    return ['The first line must name the columns, such as subscriberId and email.'];
  }
  const used = targets.filter(Boolean);
  const repeated = new Set(used.filter((name, i) => used.indexOf(name) !== i));
  const parents = used.filter((name) => used.some((other) => other.startsWith(`${name}.`)));
  const absent = [...fields].filter(([name, field]) => field !== '' && !names.includes(name));
  return [
    ...names.flatMap((name, i) => (name === '' ? [`Column ${i + 1} of the header has no name.`] : [])),
    ...describeUnknown(targets, 'column'),
    ...[...repeated].map((name) => `The header has several columns "${name}". Keep one.`),
    ...parents.map((name) => `Use either the column "${name}" or columns that begin with "${name}.", not both.`),
    ...absent.map(([name]) => `The header has no column "${name}", which --map names.`),
    ...(known.includes('subscriberId') ? [] : ['The header has no column "subscriberId".']),
  ];
}

/** Field and value of a cell, or of a member of JSON. The path is that of a member of `data`, or empty if the column is ignored. */
type Member = readonly [path: readonly string[], value: unknown];

const pathOf = (name = ''): readonly string[] => (name.startsWith('data.') ? name.split('.') : [name].filter(Boolean));

/** Returns the value of a cell. Those that aren't JSON, but should be, stay text. */
const toValue = ([name = '', ...rest]: readonly string[], cell: string): unknown =>
  JSON_FIELDS.has(name) && rest.length === 0 ? (parseJson(cell) ?? cell) : cell;

/** Puts the fields of a row together, without those that are ignored or have no value. */
function toFields(members: readonly Member[], nulls: Columns['nulls']): Omit<RawRow, 'line' | 'text'> {
  const value: Record<string, unknown> = {};
  const used = members.filter(([path, each]) => path.length > 0 && !nulls.has(each));
  const problems = used.flatMap(([path, each]) =>
    setMember(value, path, each) ? [] : [`The row has several values of ${path.join('.')}.`],
  );
  const placeholders = used.map(([, each]) => each).filter(isPlaceholder);
  return { placeholders, ...(problems.length === 0 ? { value } : { problems }) };
}

/** Sets a member of members, which are created. They are own properties, whatever their names are. Returns false if it has a value already. */
function setMember(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): boolean {
  const existing = Object.hasOwn(target, name) ? target[name] : undefined;
  if (rest.length > 0 && isRecord(existing)) {
    return setMember(existing, rest, value);
  }
  const inner = {};
  const member = rest.length === 0 ? value : inner;
  Object.defineProperty(target, name, { value: member, enumerable: true, configurable: true, writable: true });
  return existing === undefined && (rest.length === 0 || setMember(inner, rest, value));
}
