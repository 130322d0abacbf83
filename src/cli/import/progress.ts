import type { Process } from '../command.ts';

export interface Counts {
  total: number;
  /** Rows that are applied, also by earlier imports. */
  applied: number;
  /** Rows that were sent and have failed. */
  failed: number;
}

/** Display of the progress: one line that is rewritten on a terminal, otherwise a line every few seconds. */
export interface Progress extends Disposable {
  /** Prints a line above the display. */
  note(text: string): void;
}

const TERMINAL_MS = 200;
const LOG_MS = 10_000;

/** Period of the speed that is shown, so that a pause an hour ago doesn't distort the estimate. */
const WINDOW_MS = 20_000;

/** Returns to the beginning of the line, and erases it. */
const ERASE = '\r\u001b[K';

/**
 * Shows progress on standard error until it is disposed.
 *
 * @param describe returns the current line
 */
export function showProgress({ stderr }: Pick<Process, 'stderr'>, describe: (columns: number) => string): Progress {
  const { isTTY } = stderr;
  const print = () =>
    stderr.write(isTTY ? `${ERASE}${describe((stderr.columns || 80) - 1)}` : `${describe(Infinity)}\n`);
  const timer = setInterval(print, isTTY ? TERMINAL_MS : LOG_MS);
  let isOver = false;
  return {
    note: (text) => void stderr.write(isTTY ? `${ERASE}${text}\n` : `${text}\n`),
    [Symbol.dispose]() {
      clearInterval(timer);
      if (isTTY && !isOver) {
        stderr.write(ERASE);
      }
      isOver = true;
    },
  };
}

/** Creates the function that describes the progress of sending. A narrow terminal shows the beginning, so what matters most comes first. */
export function createDescription(counts: Readonly<Counts>): (columns: number) => string {
  const samples: { at: number; done: number }[] = [{ at: performance.now(), done: doneOf(counts) }];

  function speed(): number {
    const now = { at: performance.now(), done: doneOf(counts) };
    samples.push(now);
    while (samples.length > 2 && now.at - (samples[0]?.at ?? 0) > WINDOW_MS) {
      samples.shift();
    }
    const [first = now] = samples;
    return now.at > first.at ? ((now.done - first.done) * 1_000) / (now.at - first.at) : 0;
  }

  return (columns) => {
    const done = doneOf(counts);
    const perSecond = speed();
    const left = perSecond > 0 ? formatDuration((counts.total - done) / perSecond) : 'unknown time';
    return [
      `${Math.floor((done / counts.total) * 100)} %`,
      `${left} left`,
      ...(counts.failed > 0 ? [`${formatCount(counts.failed)} failed`] : []),
      `${formatCount(done)} of ${formatCount(counts.total)}`,
      `${formatCount(Math.round(perSecond))}/s`,
    ]
      .join('  ')
      .slice(0, columns);
  };
}

const doneOf = ({ applied, failed }: Readonly<Counts>): number => applied + failed;

/** Formats a number: `10,000`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/**
 * Formats a number with its noun: `1 row`, `10,000 rows`.
 *
 * @param kind adjective with a space after it. @default none
 */
export const formatRows = (count: number, kind = ''): string =>
  `${formatCount(count)} ${kind}${count === 1 ? 'row' : 'rows'}`;

export const be = (count: number): string => (count === 1 ? 'is' : 'are');

/** Formats a duration: `45 s`, `12 min`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 100) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
