import { formatCount } from './format.ts';
import { ImportError } from './import-error.ts';
import { openResults, type ResultsFile } from './results-file.ts';
import type { RowProblem } from './row.ts';

/** Problems that are printed. All of them are in the file. */
const PRINTED = 20;

/** Problems of the rows of a file. */
export class ProblemList implements Disposable {
  #path: string | undefined;
  readonly #printed: RowProblem[] = [];
  #file: ResultsFile | undefined;
  #count = 0;

  /** @param path results file for all problems, which is replaced by the first one; undefined to write none */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  add(problem: RowProblem): void {
    this.#count += 1;
    if (this.#printed.length < PRINTED) {
      this.#printed.push(problem);
    }
    try {
      this.#write(problem);
    } catch (error) {
      if (!(error instanceof ImportError)) {
        throw error;
      }
      this.#path = undefined; // The printed problems matter more than a folder that is read-only.
    }
  }

  #write(problem: RowProblem): void {
    if (this.#path === undefined) {
      return;
    }
    if (this.#file === undefined) {
      this.#file = openResults(this.#path, 0);
      this.#file.write({ import: 'subscribers', version: 1, problems: true });
    }
    this.#file.write({ outcome: 'invalid', ...problem });
  }

  /** Returns the lines to print. */
  describe(source: string): string {
    const lines = this.#printed.map(({ line, problem }) => `${source}:${line}: ${problem}`);
    const more = this.#count - this.#printed.length;
    if (more > 0) {
      lines.push(`… and ${formatCount(more)} more.`);
    }
    const problems = this.#count === 1 ? '1 problem' : `${formatCount(this.#count)} problems`;
    const place = this.#path === undefined ? '' : ` All of them are in ${this.#path}.`;
    lines.push(`${problems}, so nothing was sent.${more > 0 ? place : ''}`);
    return `${lines.join('\n')}\n`;
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
  }
}
