import { readFileSync, writeFileSync } from 'node:fs';

/** Recorded values that later versions are compared with. */
export interface Ratios {
  recordedAt: string;
  commit: string;
  node: string;
  /** Instructions per request as a multiple of the floor's in the same run, by workload. */
  instructions: Record<string, number>;
  /** Upstream requests, by workload. */
  calls: Record<string, number>;
  /** Heap bytes allocated per request, by workload. */
  allocatedBytes: Record<string, number>;
}

/** Values of the current run. */
export type Measured = Pick<Ratios, 'instructions' | 'calls' | 'allocatedBytes'>;

/** Repeated runs of the same code differ by up to 2 %. */
const INSTRUCTION_TOLERANCE = 0.04;
const ALLOCATION_TOLERANCE = 0.1;

const FILE = new URL('ratios.json', import.meta.url);

/** Reads the recorded values. Their type is known, because `writeRatios` wrote them. */
export const readRatios = (): Ratios => JSON.parse(readFileSync(FILE, 'utf8'));

/** Records values. */
export const writeRatios = (ratios: Ratios): void => writeFileSync(FILE, `${JSON.stringify(ratios, undefined, 2)}\n`);

const ADVICE = 'Find the cause (see docs/performance.md), or accept the change with "node bench/guard.ts --record".';

/** Compares values with the recorded ones. @returns a message for each value that got worse */
export function findRegressions(measured: Measured, recorded: Ratios): string[] {
  const regressions: string[] = [];
  for (const [name, ratio] of Object.entries(measured.instructions)) {
    const before = recorded.instructions[name];
    // NaN, if nothing was counted, is a regression too.
    if (before === undefined || !(ratio <= before * (1 + INSTRUCTION_TOLERANCE))) {
      regressions.push(
        `${name}: ${ratio} × the floor's instructions per request. Recorded: ${before ?? 'nothing'}, tolerance: ${percent(INSTRUCTION_TOLERANCE)}. ${ADVICE}`,
      );
    }
  }
  for (const [name, calls] of Object.entries(measured.calls)) {
    const before = recorded.calls[name];
    if (calls !== before) {
      regressions.push(
        `${name}: ${calls} upstream requests. Recorded: ${before ?? 'nothing'}, tolerance: none. ${ADVICE}`,
      );
    }
  }
  for (const [name, bytes] of Object.entries(measured.allocatedBytes)) {
    const before = recorded.allocatedBytes[name];
    if (before === undefined || bytes > before * (1 + ALLOCATION_TOLERANCE)) {
      regressions.push(
        `${name}: ${bytes} heap bytes allocated per request. Recorded: ${before ?? 'nothing'}, tolerance: ${percent(ALLOCATION_TOLERANCE)}. ${ADVICE}`,
      );
    }
  }
  return regressions;
}

const percent = (share: number): string => `${share * 100} %`;
