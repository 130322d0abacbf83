import type { CheckedFile } from './check-rows.ts';
import { formatCount, formatDuration, formatRows } from './format.ts';
import type { ImportOptions } from './options.ts';
import type { Counts } from './progress.ts';
import { isApplied, type Outcome } from './results.ts';

/** Results of a session. */
export class Tally implements Counts {
  readonly total: number;
  readonly #startedAt = performance.now();
  readonly #session: Record<Outcome, number> = { created: 0, updated: 0, failed: 0, unknown: 0 };
  applied: number;

  /** @param applied rows that earlier sessions applied */
  constructor(total: number, applied: number) {
    this.total = total;
    this.applied = applied;
  }

  get failed(): number {
    return this.#session.failed + this.#session.unknown;
  }

  add(outcome: Outcome): void {
    this.#session[outcome] += 1;
    this.applied += Number(isApplied(outcome));
  }

  /** Returns the lines to print at the end. */
  describe({ results }: Pick<ImportOptions, 'results'>): string {
    const { created, updated, failed, unknown } = this.#session;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const counts = `${formatCount(created)} created, ${formatCount(updated)} updated`;
    const left = this.total - this.applied;
    return [
      `Applied ${formatRows(created + updated)} in ${formatDuration(seconds)}: ${counts}.`,
      ...(failed > 0 ? [`${formatRows(failed)} failed and changed nothing.`] : []),
      ...(unknown > 0 ? [`${formatRows(unknown)} failed and may have been applied.`] : []),
      left === 0
        ? `All ${formatRows(this.total)} of the file are applied. Results: ${results}`
        : `${formatCount(this.applied)} of ${formatRows(this.total)} are applied. Results, with reasons: ${results}\nRun the same command again to send the other ${formatCount(left)}.`,
      '',
    ].join('\n');
  }
}

/** Longest row that a dry run shows completely. */
const MAX_SHOWN = 300;

/** Returns the lines that a dry run prints. */
export const describeDryRun = ({ samples }: CheckedFile): string =>
  [
    'The first rows, as they would be sent to POST /v1/subscribers:',
    ...samples.map(({ line, subscriber }) => {
      const json = JSON.stringify(subscriber);
      return `  line ${line}: ${json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN - 1)}…` : json}`;
    }),
    'Nothing was sent.',
    '',
  ].join('\n');
