import { CsvError, type Parser, parse } from 'csv-parse';
import { findHeaderProblems, toFields } from './csv-columns.ts';
import type { RawRow } from './json-rows.ts';
import { MAX_ROW_LENGTH, type RowProblem } from './row.ts';

/** Problems for which reading can't continue, by the code of the parser. */
const SYNTAX: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quote in this row is not closed.',
  CSV_MAX_RECORD_SIZE: `The row is longer than ${MAX_ROW_LENGTH / 1024} KiB. Check that every quote in it is closed.`,
  CSV_INVALID_CLOSING_QUOTE: 'A quoted cell must end with its closing quote. Write a quote in it twice.',
  INVALID_OPENING_QUOTE: 'A cell with a quote must be in quotes. Write a quote in it twice.',
};

/** Reads CSV (RFC 4180) with a header. Stops at the first syntax error, because everything that follows could be misread. */
export async function* readCsvRows(text: AsyncIterable<string>): AsyncGenerator<RawRow | RowProblem> {
  let names: string[] | undefined;
  let line = 1;

  function take(cells: readonly string[]): (RawRow | RowProblem)[] {
    const start = line;
    line += 1 + cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
    if (cells.length === 1 && cells[0]?.trim() === '') {
      return []; // Empty line.
    }
    if (names === undefined) {
      names = cells.map((name) => name.trim());
      return findHeaderProblems(names).map((problem) => ({ line: start, problem }));
    }
    return cells.length === names.length
      ? [{ line: start, value: toFields(names, cells) }]
      : [{ line: start, problem: `The row has ${cells.length} cells, but the header has ${names.length}.` }];
  }

  for await (const { rows, failure } of parseChunks(text)) {
    for (const cells of rows) {
      const isHeader = names === undefined;
      const taken = take(cells);
      yield* taken;
      if (isHeader && taken.length > 0) {
        return; // Every row would have the same problem.
      }
    }
    if (failure !== undefined) {
      yield { line, problem: SYNTAX[failure] ?? `The row is not valid CSV (${failure}).` };
      return;
    }
  }
  if (names === undefined) {
    yield { line: 1, problem: 'The file is empty. Its first line must name the columns.' };
  }
}

/** Yields the rows of each chunk, and the code of the syntax error that ends them. */
async function* parseChunks(text: AsyncIterable<string>): AsyncGenerator<{ rows: string[][]; failure?: string }> {
  let rows: string[][] = [];
  let parser: Parser | undefined;
  for await (const chunk of text) {
    parser ??= createParser(detectDelimiter(chunk), (cells) => rows.push(cells));
    const failure = await step(parser, chunk);
    yield { rows, ...(failure !== undefined && { failure }) };
    if (failure !== undefined) {
      return;
    }
    rows = [];
  }
  const failure = parser && (await step(parser, undefined));
  yield { rows, ...(failure !== undefined && { failure }) };
}

function createParser(delimiter: string, onRow: (cells: string[]) => void): Parser {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true, // Reported with its line, and not as the end of the file.
    max_record_size: MAX_ROW_LENGTH,
    // Collected here instead of read from the stream, which drops rows before an error.
    on_record(cells: string[]) {
      onRow(cells);
      return null;
    },
  });
  parser.on('error', () => {}); // Also passed to the callback of `write`.
  parser.resume();
  return parser;
}

/** Parses a chunk, or the end. Returns the code of a syntax error. */
function step(parser: Parser, chunk: string | undefined): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const done = (error?: Error | null) => {
    if (error == null) {
      resolve(undefined);
    } else if (error instanceof CsvError) {
      resolve(error.code);
    } else {
      reject(error);
    }
  };
  if (chunk === undefined) {
    parser.end(done);
  } else {
    parser.write(chunk, done);
  }
  return promise;
}

/** Returns the delimiter of the header. Spreadsheets of some countries write semicolons. */
function detectDelimiter(chunk: string): string {
  const [header = ''] = /^[^\r\n]*/.exec(chunk) ?? [];
  return [',', ';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ',';
}
