import { readCsvRows } from './csv-rows.ts';
import { EncodingError } from './input-file.ts';
import { readJsonRows } from './json-rows.ts';
import type { Format, Row, RowProblem } from './row.ts';
import { checkRow } from './row-rules.ts';

/** Reads and checks rows one by one. After a problem for which it can't continue, it ends. */
export async function* readRows(text: AsyncIterable<string>, format: Format): AsyncGenerator<Row | RowProblem> {
  let line = 1;
  try {
    for await (const raw of format === 'csv' ? readCsvRows(text) : readJsonRows(text)) {
      ({ line } = raw);
      if (raw.problem !== undefined) {
        yield raw;
        continue;
      }
      const { subscriber, problems = [], subscriberId } = checkRow(raw.value);
      if (subscriber !== undefined) {
        yield { line, subscriber };
      }
      yield* problems.map((problem) => ({ line, subscriberId, problem }));
    }
  } catch (error) {
    if (!(error instanceof EncodingError)) {
      throw error;
    }
    yield { line: error.line, problem: error.message };
  }
}
