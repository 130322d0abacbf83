import { readFileSync, writeFileSync } from 'node:fs';

/** Recorded values that later versions are compared with. */
export interface Ratios {
  recordedAt: string;
  commit: string;
  node: string;
  /** CPU time per request as a multiple of the floor's in the same run, by workload. */
  cpu: Record<string, number>;
  /** Upstream requests, by workload. */
  calls: Record<string, number>;
  /** Heap bytes allocated per request, by workload. */
  allocatedBytes: Record<string, number>;
}

/** Values of the current run. */
export type Measured = Pick<Ratios, 'cpu' | 'calls' | 'allocatedBytes'>;

const CPU_TOLERANCE = 0.25;
const ALLOCATION_TOLERANCE = 0.1;

const FILE = new URL('ratios.json', import.meta.url);

/** Reads the recorded values. Their type is known, because `writeRatios` wrote them. */
export const readRatios = (): Ratios => JSON.parse(readFileSync(FILE, 'utf8'));

/** Records values. */
export const writeRatios = (ratios: Ratios): void => writeFileSync(FILE, `${JSON.stringify(ratios, undefined, 2)}\n`);

/** Returns the highest accepted ratio. */
export const cpuLimit = (recorded: number): number => recorded * (1 + CPU_TOLERANCE);

const ADVICE = 'Find the cause (see docs/benchmarks.md), or accept the change with "node bench/guard.ts --record".';

/** Compares values with the recorded ones. @returns a message for each value that got worse */
export function findRegressions(measured: Measured, recorded: Ratios): string[] {
  const regressions: string[] = [];
  for (const [name, ratio] of Object.entries(measured.cpu)) {
    const before = recorded.cpu[name];
    if (before === undefined || ratio > cpuLimit(before)) {
      regressions.push(
        `${name}: ${ratio.toFixed(2)} × the floor's CPU time. Recorded: ${before?.toFixed(2) ?? 'nothing'}, tolerance: ${percent(CPU_TOLERANCE)}. ${ADVICE}`,
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
