/** Progress output. */
export interface Progress {
  /** Prints a line with the elapsed seconds. */
  report: (line: string) => void;
  /** Returns the elapsed minutes. */
  minutes(): number;
}

/** Starts measuring the elapsed time. */
export function createProgress(): Progress {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  return {
    report: (line) => process.stdout.write(`${seconds().toFixed(0).padStart(5)} s  ${line}\n`),
    minutes: () => Math.round(seconds() / 6) / 10,
  };
}
