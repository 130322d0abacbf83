import type { Results } from './results.ts';
import { FLOOR, OURS } from './subjects.ts';

/** Result compared with its target. */
export interface TargetRow {
  value: string;
  result: string;
  target: string;
  verdict: 'met' | 'missed' | 'void' | 'not measured';
}

/** Maximum CPU time per request, as a multiple of the floor's. */
const CPU_LIMITS: Readonly<Record<string, number>> = { q1: 1.3, q2: 1.5, q3: 1.2, q4: 1.3, m1: 1.5 };
const TAILCALL_LIMIT = 0.6;
const SHARED_CALLS_LIMIT = 0.05;
const BULK_LIMIT = 0.15;
const LATENCY_LIMIT = 1.5;
const GROWTH_LIMIT = 0.1;
const MEMORY_LIMIT = 200e6;
const START_LIMIT_MS = 1_000;
/** Stands for "about 0 %": Linux counts CPU time in hundredths of a second. */
const IDLE_LIMIT = 0.01;

/** Compares every result with its target. Rows that were not measured are included. */
export function compareWithTargets(results: Results): TargetRow[] {
  return [...workloadRows(results), ...latencyRows(results), ...memoryRows(results), ...restRows(results)];
}

/** Returns the CPU time target of a workload, if any. */
export const cpuLimitOf = (key: string): number | undefined => CPU_LIMITS[key];

const row = (value: string, target: string, result: string | undefined, isMet: boolean, fault?: string): TargetRow => ({
  value,
  target,
  result: result ?? '—',
  verdict: fault !== undefined ? 'void' : result === undefined ? 'not measured' : isMet ? 'met' : 'missed',
});

const times = (ratio: number | undefined): string | undefined => ratio?.toFixed(2);

function workloadRows({ workloads }: Results): TargetRow[] {
  const outcomeOf = (key: string, name: string) => workloads.find((workload) => workload.key === key)?.subjects[name];
  const ours = (key: string) => {
    const { figures, fault } = outcomeOf(key, OURS.name) ?? {};
    return { figures, fault: fault ?? outcomeOf(key, FLOOR.name)?.fault };
  };
  const ratioRow = (key: string, value: string, limit: number) => {
    const { figures, fault } = ours(key);
    return row(value, `≤ ${limit.toFixed(2)} × floor`, times(figures?.ratio), (figures?.ratio ?? 0) <= limit, fault);
  };
  const tailcall = outcomeOf('q1', 'tailcall');
  const own = ours('q1');
  const toTailcall = tailcall?.figures && own.figures && own.figures.ratio / tailcall.figures.ratio;
  const shared = ours('h1');
  const unshared = ours('h1-own');
  return [
    ...Object.entries(CPU_LIMITS).map(([key, limit]) =>
      ratioRow(key, `${key.toUpperCase()} CPU time per request`, limit),
    ),
    row(
      'Q1 CPU time per request',
      `≤ ${TAILCALL_LIMIT.toFixed(2)} × Tailcall`,
      times(toTailcall),
      (toTailcall ?? 0) <= TAILCALL_LIMIT,
      tailcall && (tailcall.fault ?? own.fault),
    ),
    row(
      'H1 upstream requests per request, same credential',
      `≤ ${SHARED_CALLS_LIMIT}`,
      shared.figures?.calls.toFixed(3),
      (shared.figures?.calls ?? 0) <= SHARED_CALLS_LIMIT,
      shared.fault,
    ),
    row(
      'H1 upstream requests per request, one credential per client',
      '1.00',
      times(unshared.figures?.calls),
      times(unshared.figures?.calls) === '1.00',
      unshared.fault,
    ),
    ratioRow('b1', 'B1 time for 100 subscribers', BULK_LIMIT),
  ];
}

const latencyRows = ({ latency }: Results): TargetRow[] =>
  latency.map(({ key, rate, ratio }) =>
    row(
      `${key.toUpperCase()} p99 at ${rate} requests per second`,
      `≤ ${LATENCY_LIMIT.toFixed(2)} × floor`,
      times(ratio),
      ratio <= LATENCY_LIMIT,
    ),
  );

function memoryRows({ memory }: Results): TargetRow[] {
  const growth = memory && memory.late.rss / memory.early.rss - 1;
  const largest = memory && Math.max(memory.early.rss, memory.late.rss);
  const span = memory ? `${memory.early.requests} to ${memory.late.requests}` : '100000 to 300000';
  return [
    row(
      `memory growth from ${span} mixed requests`,
      `within ${GROWTH_LIMIT * 100} %`,
      growth === undefined ? undefined : `${growth < 0 ? '−' : '+'}${Math.abs(growth * 100).toFixed(1)} %`,
      (growth ?? 0) <= GROWTH_LIMIT,
    ),
    row(
      'resident memory after mixed requests',
      `< ${MEMORY_LIMIT / 1e6} MB`,
      largest === undefined ? undefined : `${(largest / 1e6).toFixed(0)} MB`,
      (largest ?? 0) < MEMORY_LIMIT,
    ),
  ];
}

function restRows({ subjects, rest }: Results): TargetRow[] {
  const startMs = subjects.find(({ name }) => name === OURS.name)?.startMs;
  const idle = rest[OURS.name]?.idleCpu;
  return [
    row(
      'time from process start to first response',
      `≤ ${START_LIMIT_MS} ms`,
      startMs === undefined ? undefined : `${startMs.toFixed(0)} ms`,
      (startMs ?? 0) <= START_LIMIT_MS,
    ),
    row(
      'idle CPU, as a share of one core',
      'about 0 %',
      idle === undefined ? undefined : `${(idle * 100).toFixed(1)} %`,
      (idle ?? 0) <= IDLE_LIMIT,
    ),
  ];
}
