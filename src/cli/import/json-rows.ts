import { MAX_ROW_LENGTH, type RowProblem } from './row.ts';

/** Row as the file has it, before it is checked. */
export interface RawRow {
  line: number;
  value: unknown;
  problem?: never;
}

/** Reads JSON lines: one object per line. Empty lines are skipped. */
export async function* readJsonRows(text: AsyncIterable<string>): AsyncGenerator<RawRow | RowProblem> {
  let rest = '';
  let line = 1;
  let isTooLong = false;
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) {
      yield* parseLine(isTooLong ? undefined : each, line);
      isTooLong = false;
      line += 1;
    }
    if (rest.length > MAX_ROW_LENGTH) {
      isTooLong = true;
      rest = '';
    }
  }
  yield* parseLine(isTooLong ? undefined : rest, line);
}

/** @param text the line; undefined if it is too long */
function* parseLine(text: string | undefined, line: number): Generator<RawRow | RowProblem> {
  if (text === undefined || text.length > MAX_ROW_LENGTH) {
    yield { line, problem: `The line is longer than ${MAX_ROW_LENGTH / 1024} KiB.` };
  } else if (text.trim() !== '') {
    const value = parseJson(text);
    yield value === undefined
      ? { line, problem: 'The line is not valid JSON. Each line must be a complete object.' }
      : { line, value };
  }
}

/** Returns the value of a JSON text, or undefined if it is not valid. Messages of the parser would quote it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
