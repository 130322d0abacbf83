import { formatCount, formatDuration, formatRows } from './format.ts';
import type { ImportOptions } from './options.ts';
import type { Counts } from './progress.ts';
import { isApplied, type Outcome, type RowResult } from './results.ts';

/** Failed rows that are printed. */
const PRINTED = 20;

/** Results of the rows that this process has sent, for its output. */
export class SessionSummary implements Counts {
  readonly total: number;
  readonly #startedAt = performance.now();
  readonly #session: Record<Outcome, number> = { created: 0, updated: 0, failed: 0, unknown: 0 };
  readonly #printed: RowResult[] = [];
  applied: number;

  /** @param applied rows that earlier sessions applied */
  constructor(total: number, applied: number) {
    this.total = total;
    this.applied = applied;
  }

  get failed(): number {
    return this.#session.failed + this.#session.unknown;
  }

  add(result: RowResult): void {
    const { outcome } = result;
    this.#session[outcome] += 1;
    if (isApplied(outcome)) {
      this.applied += 1;
    } else if (this.#printed.length < PRINTED) {
      this.#printed.push(result);
    }
  }

  /** Returns lines with the reasons of the first failures. */
  describeFailures({ path }: Pick<ImportOptions, 'path'>): string {
    const lines = this.#printed.map(({ line, code, message }) => `${path}:${line}: ${message} (${code})\n`);
    const more = this.failed - lines.length;
    return lines.join('') + (more > 0 ? `… and ${formatCount(more)} more.\n` : '');
  }

  /**
   * Returns the lines to print at the end.
   *
   * @param results path of the results; undefined if there are none
   * @param remedy what to do next, as a sentence. @default to resume the import, unless all rows are applied
   */
  describe(results: string | undefined, remedy?: string): string {
    const { created, updated, failed, unknown } = this.#session;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const counts = `${formatCount(created)} created, ${formatCount(updated)} updated`;
    const left = this.total - this.applied;
    const reference = (label: string) => (results === undefined ? '' : ` ${label}: ${results}`);
    const next = remedy ?? (left === 0 ? undefined : 'Run the same command again to send the others.');
    const repair = failed > 0 ? ' Import corrected rows from a file of their own.' : '';
    return [
      `Applied ${formatRows(created + updated)} in ${formatDuration(seconds)}: ${counts}.`,
      ...(failed > 0 ? [`${formatRows(failed)} failed and changed nothing.`] : []),
      ...(unknown > 0 ? [`${formatRows(unknown)} failed and may have been applied.`] : []),
      left === 0
        ? `All ${formatRows(this.total)} of the file are applied.${reference('Results')}`
        : `${formatCount(this.applied)} of ${formatRows(this.total)} are applied.${reference('Results, with reasons')}`,
      ...(next === undefined ? [] : [next + repair]),
      '',
    ].join('\n');
  }
}
