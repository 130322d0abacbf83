import { createReadStream, lstatSync } from 'node:fs';
import { assertRegularFile, FileError } from '../../lib/files/text-file.ts';
import { ConfigError } from '../config/problem.ts';
import { AppliedLines } from './applied-lines.ts';
import { parseJson } from './json-rows.ts';
import { isApplied, isBeginning, PROBLEMS, RESULT, RUN, type Run } from './results.ts';

/** Run whose results a file contains. */
export interface EarlierRun {
  run: Run;
  /** Rows that are applied. */
  applied: AppliedLines;
  /** Bytes of complete lines. A process that was killed may have left a part of a line after them. */
  bytes: number;
}

/**
 * Reads a results file.
 *
 * @returns undefined if there is none, or it only lists problems of rows, or its first line is incomplete, so that nothing was sent
 * @throws {ConfigError} if it is another kind of file, which must not be overwritten
 */
export async function readEarlierRun(path: string): Promise<EarlierRun | undefined> {
  if (!exists(path)) {
    return undefined;
  }
  const applied = new AppliedLines();
  let run: Run | undefined;
  let bytes = 0;
  for await (const { line, isComplete } of linesOf(path)) {
    if (!isComplete) {
      if (run === undefined && isBeginning(line.toString('utf8'))) {
        return undefined;
      }
      break;
    }
    const value = parseJson(line.toString('utf8'));
    if (run === undefined) {
      const { data } = RUN.safeParse(value);
      if (data === undefined) {
        if (PROBLEMS.safeParse(value).success) {
          return undefined;
        }
        break;
      }
      run = data;
    }
    const { data } = RESULT.safeParse(value); // Lines that a full disk cut are ignored: their rows are sent again.
    if (data !== undefined && isApplied(data.outcome)) {
      applied.add(data.line);
    }
    bytes += line.byteLength + 1;
  }
  if (run === undefined) {
    throw new ConfigError([`The file ${path} has no results of an import. Name another one with --results.`]);
  }
  return { run, applied, bytes };
}

function exists(path: string): boolean {
  try {
    assertRegularFile(path, lstatSync); // Results are written to this file, so a link could make the import change any other.
    return true;
  } catch (error) {
    if (error instanceof FileError && error.isMissing) {
      return false;
    }
    throw error instanceof FileError ? new ConfigError([`--results: the file ${path} ${error.message}.`]) : error;
  }
}

/** Longest line: the id and the message of the service are bounded. */
const MAX_LINE_BYTES = 64 * 1024;

/** Yields the lines. The last one is not complete, as it has no line break; it is empty after a complete one. */
async function* linesOf(path: string): AsyncGenerator<{ line: Buffer; isComplete: boolean }> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      yield { line: rest.subarray(start, end), isComplete: true };
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.byteLength > MAX_LINE_BYTES) {
      break;
    }
  }
  yield { line: rest, isComplete: false };
}
