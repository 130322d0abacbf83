// Defines the targets of the benchmark, and compares results with them.

import { MIN_LATENCY_ROUNDS } from './latency.ts';
import { MEMORY_SPAN } from './memory.ts';
import type { Part } from './options.ts';
import { TAILCALL } from './peers/tailcall/subject.ts';
import type { Results } from './results.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';

/** Result compared with its target. */
export interface TargetRow {
  value: string;
  result: string;
  target: string;
  verdict: 'met' | 'missed' | 'void' | 'not measured';
  /** Reason why the result is void. */
  fault?: string | undefined;
}

/** Result of a run; undefined if it was not measured. */
interface Measured {
  measured: number | undefined;
  /** Reason why it is void. */
  fault?: string | undefined;
}

/** Maximum CPU time per request, as a multiple of the floor's. */
const CPU_LIMITS: Readonly<Record<string, number>> = { q1: 1.3, q2: 1.3, q3: 1.2, q4: 1.3, m1: 1.4 };
/** Maximum number of instructions per request, as a multiple of the floor's. */
const INSTRUCTION_LIMITS: Readonly<Record<string, number>> = { q1: 1.15, m1: 1.3 };
/** Maximum number of instructions of Q1 as the field of a module, as a multiple of the built-in field's. */
export const MODULE_LIMIT = 1.03;
const LATENCY_LIMIT = 1.3;

const times = (ratio: number): string => ratio.toFixed(2);
const thousandths = (value: number): string => value.toFixed(3);
const ms = (time: number): string => `${time.toFixed(0)} ms`;
const mb = (bytes: number): string => `${bytes < 0 ? '−' : ''}${Math.abs(bytes / 1e6).toFixed(0)} MB`;
const percent = (share: number): string => `${share < 0 ? '−' : ''}${Math.abs(share * 100).toFixed(1)} %`;

/** Compares a result with its target. @param limit maximum, or a function that returns whether the target is met, @param target the target in words */
function row(
  value: string,
  { measured, fault }: Measured,
  limit: number | ((measured: number) => boolean),
  target: string,
  format: (measured: number) => string = times,
): TargetRow {
  const isMet = measured !== undefined && (typeof limit === 'number' ? measured <= limit : limit(measured));
  return {
    value,
    target,
    result: measured === undefined ? '—' : format(measured),
    verdict: fault !== undefined ? 'void' : measured === undefined ? 'not measured' : isMet ? 'met' : 'missed',
    fault,
  };
}

/** Compares every result with its target. Rows that were not measured are included. */
export function compareWithTargets(results: Results): TargetRow[] {
  const { workloads, latency, mixed, starts, instructions, documents, rest, faults } = results;
  const ofFloor = (limit: number) => `≤ ${times(limit)} × floor`;
  const ofWorkload = (key: string, figure: 'ratio' | 'calls' | 'cpuUs', name = OURS.name): Measured => {
    const { subjects } = workloads.find((workload) => workload.key === key) ?? {};
    const { figures, fault } = subjects?.[name] ?? {};
    return { measured: figures?.[figure], fault: fault ?? (figures && subjects?.[FLOOR.name]?.fault) };
  };
  /** CPU time as a multiple of Tailcall's. */
  const ofTailcall = (key: string): Measured => {
    const [ours, other] = [ofWorkload(key, 'cpuUs'), ofWorkload(key, 'cpuUs', TAILCALL.name)];
    return {
      measured: ours.measured && other.measured && ours.measured / other.measured,
      fault: other.fault ?? ours.fault,
    };
  };
  const ofPart = (part: Part, measured: number | undefined): Measured => ({
    measured,
    fault: faults?.find(({ section }) => section === part)?.reason,
  });
  const aboveFloor = mixed && Math.max(...[mixed.early, mixed.late].map(({ ours, floor }) => ours - floor));
  const growth = mixed && mixed.late.ours / mixed.early.ours - 1;
  const { early, late } = MEMORY_SPAN;
  return [
    ...Object.entries(CPU_LIMITS).map(([key, limit]) =>
      row(`${key.toUpperCase()} CPU time per request`, ofWorkload(key, 'ratio'), limit, ofFloor(limit)),
    ),
    row('Q1 CPU time per request', ofTailcall('q1'), 0.6, '≤ 0.60 × Tailcall'),
    ...Object.entries(INSTRUCTION_LIMITS).map(([key, limit]) => {
      const value = `${key.toUpperCase()} instructions per request`;
      return row(value, ofPart('instructions', instructions?.[key]), limit, ofFloor(limit));
    }),
    row(
      'Q1 as the field of a module, instructions per request',
      ofPart('instructions', instructions?.twin),
      MODULE_LIMIT,
      `≤ ${times(MODULE_LIMIT)} × the built-in field`,
    ),
    row('H1 upstream requests per request, same credential', ofWorkload('h1', 'calls'), 0.02, '≤ 0.02', thousandths),
    // Fewer would mean that clients get responses to another one's credential.
    row(
      'H1 upstream requests per request, one credential per client',
      ofWorkload('h1-own', 'calls'),
      (calls) => times(calls) === '1.00',
      '1.00',
    ),
    row('H2 CPU time per request, with the cache', ofWorkload('h2', 'ratio', CACHED.name), 0.45, ofFloor(0.45)),
    row(
      'H2 upstream requests per request, with the cache',
      ofWorkload('h2', 'calls', CACHED.name),
      0.02,
      '≤ 0.02',
      thousandths,
    ),
    row('B1 time for 100 subscribers', ofWorkload('b1', 'ratio'), 0.12, ofFloor(0.12)),
    ...latency.map(({ key, rate, ratio, ratios }) => {
      const hasEnough = ratios.length >= MIN_LATENCY_ROUNDS;
      const fault = hasEnough ? undefined : `${ratios.length} instead of ${MIN_LATENCY_ROUNDS} rounds`;
      const value = `${key.toUpperCase()} p99 at ${rate} requests per second`;
      return row(value, { measured: ratio, fault }, LATENCY_LIMIT, ofFloor(LATENCY_LIMIT));
    }),
    row('resident memory under mixed load, above the floor’s', ofPart('memory', aboveFloor), 60e6, '≤ 60 MB', mb),
    row(`memory growth from ${early} to ${late} mixed requests`, ofPart('memory', growth), 0.1, '≤ 10 %', percent),
    row(`live heap after ${late} mixed requests`, ofPart('memory', mixed?.heap), 45e6, '≤ 45 MB', mb),
    row('time to the first response, packaged', ofPart('start', starts?.packagedMs), 400, '≤ 400 ms', ms),
    row(
      'CPU time per request of documents that never repeat',
      ofPart('documents', documents?.ratio),
      5,
      '≤ 5 × a repeated one',
    ),
    row(
      'idle CPU, as a share of one core',
      { measured: rest[OURS.name]?.idleCpu },
      0.01, // Stands for "about 0 %".
      'about 0 %',
      percent,
    ),
  ];
}
