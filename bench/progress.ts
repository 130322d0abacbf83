/** Lines on the screen, each with the seconds that have passed. */
export interface Progress {
  report: (line: string) => void;
  /** How long it has taken so far. */
  minutes(): number;
}

export function createProgress(): Progress {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  return {
    report: (line) => process.stdout.write(`${seconds().toFixed(0).padStart(5)} s  ${line}\n`),
    minutes: () => Math.round(seconds() / 6) / 10,
  };
}
