import type { InputFile, InputText } from './input-file.ts';
import { readRows } from './read-rows.ts';
import type { Format, Row, RowProblem } from './row.ts';
import { SeenIds } from './seen-ids.ts';

/** Result of the check. */
export interface CheckedFile {
  rows: number;
  /** First rows. */
  samples: readonly Row[];
  /** Number of problems. */
  problems: number;
  /** SHA-256 of the file. */
  digest: string;
}

/** Called during the check. */
export interface CheckObserver {
  onProblem(problem: RowProblem): void;
  /** Called for each row. */
  onRow(text: InputText): void;
}

/** Rows that are shown by a dry run. */
const SAMPLES = 3;

/** Reads the whole file and checks every row. The memory that it takes grows by `SeenIds` only. */
export async function checkRows(input: InputFile, format: Format, observer: CheckObserver): Promise<CheckedFile> {
  const text = input.read();
  const seen = new SeenIds();
  const samples: Row[] = [];
  let rows = 0;
  let problems = 0;
  const report = (problem: RowProblem) => {
    problems += 1;
    observer.onProblem(problem);
  };
  for await (const row of readRows(text, format)) {
    if ('problem' in row) {
      report(row);
      continue;
    }
    const { line, subscriber } = row;
    rows += 1;
    if (samples.length < SAMPLES) {
      samples.push(row);
    }
    const first = seen.add(subscriber.subscriberId, line);
    if (first !== undefined) {
      const problem = `subscriberId is that of line ${first} too. A subscriber must have one row.`;
      report({ line, subscriberId: subscriber.subscriberId, problem });
    }
    observer.onRow(text);
  }
  if (rows === 0 && problems === 0) {
    report({ line: 1, problem: 'The file has no rows.' });
  }
  return { rows, samples, problems, digest: text.digest() };
}
