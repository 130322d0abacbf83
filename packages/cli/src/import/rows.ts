// Reads the rows of CSV, TSV and JSON lines one by one, in little memory.

import { type FileHandle, open } from 'node:fs/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { z } from 'zod';
import { orUndefined } from '../../../../src/lib/caught.ts';
import { assertRegularFile, toFileError } from '../../../../src/lib/files/text-file.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { ConfigError } from '../config/problem.ts';
import { type CheckedRow, checkRow, describeUnknown, FIELD_NAMES, hasKnownName, JSON_FIELDS } from './row-rules.ts';

export type Format = 'csv' | 'tsv' | 'jsonl';

/** Form in which a file is written, so that its rejected rows can be written in the same one. */
interface Dialect {
  /** Byte order mark, or nothing. */
  mark: string;
  lineEnd: string;
  /** Absent in JSON lines. */
  delimiter: string | undefined;
}

interface RawRow {
  /** Line in which it starts, from 1. */
  line: number;
  /** The row as it is written in the file, without notes. */
  text: string;
  /** The header as it is written. Absent in JSON lines. */
  header?: string;
  /** Columns by their names. Absent in JSON lines. */
  columns?: readonly string[];
  /** Fields. Absent if there are problems. */
  value?: unknown;
  /** Sentences without values of the row, which are personal data. @default none */
  problems?: readonly string[];
  /** Whether the rest of the file can't be read. @default false */
  isLast?: boolean;
}

export type Row = RawRow & CheckedRow & { dialect: Dialect };

/** Columns with which a file of rejected rows begins. They are ignored, so that it can be imported once its rows are corrected. */
export const NOTES: readonly string[] = ['line', 'reasons'];

/** The same as members of JSON lines. */
const JSON_NOTES = /^\{"line":\d+,"reasons":"(?:[^"\\]|\\.)*",/;

/** Maximum length of a row in characters, so that an unclosed quote can't read the whole file into memory. */
const MAX_ROW_LENGTH = 256 * 1024;

const CHUNK_BYTES = 256 * 1024;

/** Stands for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/**
 * Reads and checks rows one by one, in little memory.
 *
 * @throws {ConfigError} if the file can't be read, or isn't a regular file
 */
export async function* readRows(path: string, format: Format): AsyncGenerator<Row> {
  await using file = await openFile(path);
  const dialect = await detectDialect(file, format);
  const { delimiter } = dialect;
  const chunks = readText(file);
  for await (const raw of delimiter === undefined ? readJsonLines(chunks) : readCsv(chunks, delimiter)) {
    const row = { ...raw, dialect };
    const isText = !`${raw.header}${raw.text}`.includes(REPLACEMENT);
    const problems = isText ? raw.problems : ['The file is not UTF-8 here. Save it as UTF-8.'];
    yield problems === undefined ? { ...row, ...checkRow(raw.value) } : { ...row, problems };
  }
}

/** Detects the dialect in the header or the first row. Spreadsheets of some countries write semicolons. */
async function detectDialect(file: FileHandle, format: Format): Promise<Dialect> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(CHUNK_BYTES), position: 0 });
  const [, mark = '', first = '', lineEnd = '\n'] =
    /^(\ufeff?)([^\r\n]*)(\r?\n|\r)?/.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
  const detected = [',', ';', '\t'].find((delimiter) => first.includes(delimiter)) ?? ',';
  return { mark, lineEnd, delimiter: { csv: detected, tsv: '\t', jsonl: undefined }[format] };
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    assertRegularFile(path);
    return await open(path);
  } catch (error) {
    throw new ConfigError([`The file ${path} ${toFileError(error).message}.`]);
  }
}

/** Yields undefined at the end. */
async function* readText(file: FileHandle): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder(); // Removes the byte order mark.
  const chunks: AsyncIterable<Buffer> = file.createReadStream({ highWaterMark: CHUNK_BYTES });
  for await (const chunk of chunks) {
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
  yield undefined;
}

/** Reads JSON lines: one object per line. Empty lines are skipped. */
async function* readJsonLines(chunks: AsyncIterable<string | undefined>): AsyncGenerator<RawRow> {
  let rest = '';
  let line = 0;
  for await (const chunk of chunks) {
    const lines = (rest + (chunk ?? '\n')).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_ROW_LENGTH + 1); // What follows would only take memory.
    for (const written of lines) {
      line += 1;
      if (written.trim() !== '') {
        const text = written.replace(JSON_NOTES, '{');
        const value = text.length > MAX_ROW_LENGTH ? undefined : parseJson(text);
        const row = { line, text };
        yield value === undefined ? { ...row, problems: [describeInvalid(text)] } : { ...row, value };
      }
    }
  }
}

const describeInvalid = (text: string): string =>
  text.length > MAX_ROW_LENGTH
    ? `The line is longer than ${MAX_ROW_LENGTH / 1024} KiB.`
    : 'The line is not valid JSON. Each line must be a complete object.';

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
async function* readCsv(chunks: AsyncIterable<string | undefined>, delimiter: string): AsyncGenerator<RawRow> {
  const records: CsvRecord[] = [];
  const parser = createParser(delimiter, records);
  const notes = new RegExp(`^(?:(?:"(?:[^"]|"")*"|[^"${delimiter}]*)${delimiter}){${NOTES.length}}`);
  let hasNotes = false;
  let header = '';
  let columns: readonly string[] | undefined;
  let line = 1;
  for await (const chunk of chunks) {
    const failure = await parseChunk(parser, chunk);
    for (const { record, raw } of records.splice(0)) {
      const start = line;
      line += 1 + record.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
      if (record.length === 1 && record[0]?.trim() === '') {
        continue; // Empty line.
      }
      hasNotes ||= columns === undefined && NOTES.every((name, i) => record[i] === name);
      const cells = hasNotes ? record.slice(NOTES.length) : record;
      const text = raw.replace(hasNotes ? notes : '', '').replace(/[\r\n]$/, '');
      if (columns === undefined) {
        columns = cells.map((name) => name.trim());
        header = text;
        const problems = findHeaderProblems(columns);
        if (problems.length > 0) {
          yield { line: start, text, problems, isLast: true }; // Every row would have the same problem.
          return;
        }
      } else if (cells.length === columns.length) {
        yield { line: start, text, header, columns, value: toFields(columns, cells) };
      } else {
        const problem = `The row has ${cells.length} cells, but the header has ${columns.length}.`;
        yield { line: start, text, header, problems: [problem] };
      }
    }
    if (failure !== undefined) {
      const problem = SYNTAX[failure] ?? `The row is not valid CSV (${failure}).`;
      yield { line, text: '', problems: [problem], isLast: true };
      return;
    }
  }
  if (columns === undefined) {
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
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
  if (chunk === undefined) {
    parser.end(resolve);
  } else {
    parser.write(chunk, resolve);
  }
  const error = await promise;
  if (error == null || error instanceof CsvError) {
    return error?.code;
  }
  throw error;
}

function findHeaderProblems(names: readonly string[]): string[] {
  if (!hasKnownName(names)) {
    return ['The first line must name the columns, such as subscriberId and email.'];
  }
  const columns = [...FIELD_NAMES, ...names.filter((name) => /^data\.[^.]+(?:\.[^.]+)*$/.test(name))];
  const repeated = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  const parents = names.filter((name) => names.some((other) => other.startsWith(`${name}.`)));
  return [
    ...names.flatMap((name, i) => {
      if (columns.includes(name)) {
        return [];
      }
      return name === ''
        ? [`Column ${i + 1} of the header has no name.`]
        : [`The header has ${describeUnknown(name, names, 'column', ` (column ${i + 1})`)}.`];
    }),
    ...[...repeated].filter(Boolean).map((name) => `The header has the column "${name}" twice.`),
    ...parents.map((name) => `Use either the column "${name}" or columns that begin with "${name}.", not both.`),
    ...(names.includes('subscriberId') ? [] : ['The header has no column "subscriberId".']),
  ];
}

/** Converts the cells of a row to fields. Empty cells are absent. Cells that aren't JSON, but should be, stay text. */
function toFields(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    const cell = cells[i] ?? '';
    if (cell !== '') {
      const isMember = name.startsWith('data.');
      setMember(fields, isMember ? name.split('.') : [name], JSON_FIELDS.has(name) ? (parseJson(cell) ?? cell) : cell);
    }
  }
  return fields;
}

/** Sets a member of members, which are created. They are own properties, whatever their names are. */
function setMember(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], cell: unknown): void {
  const existing = Object.hasOwn(target, name) ? target[name] : undefined;
  const inner = isRecord(existing) ? existing : {}; // The header's check excludes texts.
  const value = rest.length === 0 ? cell : inner;
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  if (rest.length > 0) {
    setMember(inner, rest, cell);
  }
}
