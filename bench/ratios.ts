import { readFileSync, writeFileSync } from 'node:fs';

/** What the guard holds later versions against. */
export interface Ratios {
  recordedAt: string;
  commit: string;
  node: string;
  /** CPU time of a request as a multiple of the floor's in the same run, by workload. */
  cpu: Record<string, number>;
  /** Upstream requests, by workload. */
  calls: Record<string, number>;
  /** Bytes of the heap that a request takes, by workload. */
  allocatedBytes: Record<string, number>;
}

/** What was measured now. */
export type Measured = Pick<Ratios, 'cpu' | 'calls' | 'allocatedBytes'>;

const CPU_TOLERANCE = 0.25;
const ALLOCATION_TOLERANCE = 0.1;

const FILE = new URL('ratios.json', import.meta.url);

/** They are written below, thus have their shape. */
export const readRatios = (): Ratios => JSON.parse(readFileSync(FILE, 'utf8'));

export const writeRatios = (ratios: Ratios): void => writeFileSync(FILE, `${JSON.stringify(ratios, undefined, 2)}\n`);

/** The highest ratio that passes. */
export const cpuLimit = (recorded: number): number => recorded * (1 + CPU_TOLERANCE);

const ADVICE =
  'find what made it so (docs/benchmarks.md says how), or record it as meant: node bench/guard.ts --record';

/** @returns a sentence for each figure that is worse than it was */
export function findRegressions(measured: Measured, recorded: Ratios): string[] {
  const sentences: string[] = [];
  for (const [name, ratio] of Object.entries(measured.cpu)) {
    const before = recorded.cpu[name];
    if (before === undefined || ratio > cpuLimit(before)) {
      sentences.push(
        `${name} takes ${ratio.toFixed(2)} times the floor's CPU time, recorded is ${before?.toFixed(2) ?? 'nothing'}, and ${percent(CPU_TOLERANCE)} more is tolerated: ${ADVICE}.`,
      );
    }
  }
  for (const [name, calls] of Object.entries(measured.calls)) {
    const before = recorded.calls[name];
    if (calls !== before) {
      sentences.push(
        `${name} makes ${calls} upstream requests, recorded are ${before ?? 'none'}, and nothing else is tolerated: ${ADVICE}.`,
      );
    }
  }
  for (const [name, bytes] of Object.entries(measured.allocatedBytes)) {
    const before = recorded.allocatedBytes[name];
    if (before === undefined || bytes > before * (1 + ALLOCATION_TOLERANCE)) {
      sentences.push(
        `${name} takes ${bytes} bytes of the heap a request, recorded are ${before ?? 'none'}, and ${percent(ALLOCATION_TOLERANCE)} more is tolerated: ${ADVICE}.`,
      );
    }
  }
  return sentences;
}

const percent = (share: number): string => `${share * 100} %`;
