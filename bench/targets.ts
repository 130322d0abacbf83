import { MEMORY_SPAN, MIN_LATENCY_ROUNDS } from './amounts.ts';
import type { Results, SectionName } from './results.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';

/** Result compared with its target. */
export interface TargetRow {
  value: string;
  result: string;
  target: string;
  verdict: 'met' | 'missed' | 'void' | 'not measured';
  /** Reason why the result is void. */
  fault?: string;
}

/** Maximum CPU time per request, as a multiple of the floor's. */
const CPU_LIMITS: Readonly<Record<string, number>> = { q1: 1.3, q2: 1.3, q3: 1.2, q4: 1.3, m1: 1.4 };
/** Maximum number of instructions per request, as a multiple of the floor's. */
const INSTRUCTION_LIMITS: Readonly<Record<string, number>> = { q1: 1.15, m1: 1.3 };
const TAILCALL_LIMIT = 0.6;
const SHARED_CALLS_LIMIT = 0.02;
const CACHED_CPU_LIMIT = 0.45;
const CACHED_CALLS_LIMIT = 0.02;
const BULK_LIMIT = 0.12;
const LATENCY_LIMIT = 1.3;
const MEMORY_LIMIT = 60e6;
const GROWTH_LIMIT = 0.1;
const HEAP_LIMIT = 45e6;
const START_LIMITS_MS = { packaged: 400, source: 800 };
const DOCUMENTS_LIMIT = 5;
/** Stands for "about 0 %". */
const IDLE_LIMIT = 0.01;

/** Workloads and peers whose results have a target. */
const PEER_TARGETS: Readonly<Record<string, string>> = { q1: 'tailcall' };

/** Compares every result with its target. Rows that were not measured are included. */
export function compareWithTargets(results: Results): TargetRow[] {
  return [
    ...workloadRows(results),
    ...instructionRows(results),
    ...latencyRows(results),
    ...memoryRows(results),
    ...startRows(results),
    documentsRow(results),
    idleRow(results),
  ];
}

/** Returns the CPU time target of a workload, if any. */
export const cpuLimitOf = (key: string): number | undefined => CPU_LIMITS[key];

/** Returns whether a target compares a workload with this peer. */
export const comparesPeer = (peer: string, key: string): boolean => PEER_TARGETS[key] === peer;

interface Comparison {
  value: string;
  target: string;
  /** Measured value; undefined if it was not measured. */
  measured: number | undefined;
  format: (measured: number) => string;
  isMet: (measured: number) => boolean;
  fault?: string | undefined;
}

const compare = ({ value, target, measured, format, isMet, fault }: Comparison): TargetRow => ({
  value,
  target,
  result: measured === undefined ? '—' : format(measured),
  verdict: fault !== undefined ? 'void' : measured === undefined ? 'not measured' : isMet(measured) ? 'met' : 'missed',
  ...(fault !== undefined && { fault }),
});

const atMost = (limit: number) => (measured: number) => measured <= limit;
const times = (ratio: number): string => ratio.toFixed(2);
const ms = (time: number): string => `${time.toFixed(0)} ms`;
const mb = (bytes: number): string => `${bytes < 0 ? '−' : ''}${Math.abs(bytes / 1e6).toFixed(0)} MB`;
const percent = (share: number, digits = 1): string =>
  `${share < 0 ? '−' : ''}${Math.abs(share * 100).toFixed(digits)} %`;

const faultOf = ({ faults }: Results, section: SectionName): string | undefined =>
  faults?.find((fault) => fault.section === section)?.reason;

function workloadRows({ workloads }: Results): TargetRow[] {
  const outcomeOf = (key: string, name: string) => {
    const { subjects } = workloads.find((workload) => workload.key === key) ?? {};
    const { figures, fault } = subjects?.[name] ?? {};
    return { figures, fault: fault ?? (figures && subjects?.[FLOOR.name]?.fault) };
  };
  const ratioRow = (key: string, value: string, limit: number, subject = OURS.name): TargetRow => {
    const { figures, fault } = outcomeOf(key, subject);
    const target = `≤ ${times(limit)} × floor`;
    return compare({ value, target, measured: figures?.ratio, format: times, isMet: atMost(limit), fault });
  };
  const callsRow = (key: string, value: string, limit: number, subject = OURS.name): TargetRow => {
    const { figures, fault } = outcomeOf(key, subject);
    const format = (calls: number) => calls.toFixed(3);
    return compare({ value, target: `≤ ${limit}`, measured: figures?.calls, format, isMet: atMost(limit), fault });
  };
  const [own, tailcall, unshared] = [
    outcomeOf('q1', OURS.name),
    outcomeOf('q1', 'tailcall'),
    outcomeOf('h1-own', OURS.name),
  ];
  return [
    ...Object.entries(CPU_LIMITS).map(([key, limit]) =>
      ratioRow(key, `${key.toUpperCase()} CPU time per request`, limit),
    ),
    compare({
      value: 'Q1 CPU time per request',
      target: `≤ ${times(TAILCALL_LIMIT)} × Tailcall`,
      measured: own.figures && tailcall.figures && own.figures.ratio / tailcall.figures.ratio,
      format: times,
      isMet: atMost(TAILCALL_LIMIT),
      fault: tailcall.fault ?? (tailcall.figures && own.fault),
    }),
    callsRow('h1', 'H1 upstream requests per request, same credential', SHARED_CALLS_LIMIT),
    compare({
      value: 'H1 upstream requests per request, one credential per client',
      target: '1.00',
      measured: unshared.figures?.calls,
      format: times,
      isMet: (calls) => times(calls) === '1.00',
      fault: unshared.fault,
    }),
    ratioRow('h2', 'H2 CPU time per request, with the cache', CACHED_CPU_LIMIT, CACHED.name),
    callsRow('h2', 'H2 upstream requests per request, with the cache', CACHED_CALLS_LIMIT, CACHED.name),
    ratioRow('b1', 'B1 time for 100 subscribers', BULK_LIMIT),
  ];
}

const instructionRows = (results: Results): TargetRow[] =>
  Object.entries(INSTRUCTION_LIMITS).map(([key, limit]) =>
    compare({
      value: `${key.toUpperCase()} instructions per request`,
      target: `≤ ${times(limit)} × floor`,
      measured: results.instructions?.[key],
      format: times,
      isMet: atMost(limit),
      fault: faultOf(results, 'instructions'),
    }),
  );

const latencyRows = ({ latency }: Results): TargetRow[] =>
  latency.map(({ key, rate, ratio, ratios }) =>
    compare({
      value: `${key.toUpperCase()} p99 at ${rate} requests per second`,
      target: `≤ ${times(LATENCY_LIMIT)} × floor`,
      measured: ratio,
      format: times,
      isMet: atMost(LATENCY_LIMIT),
      fault:
        ratios.length < MIN_LATENCY_ROUNDS ? `${ratios.length} instead of ${MIN_LATENCY_ROUNDS} rounds` : undefined,
    }),
  );

function memoryRows(results: Results): TargetRow[] {
  const { mixed } = results;
  const fault = faultOf(results, 'memory');
  return [
    compare({
      value: 'resident memory under mixed load, above the floor’s',
      target: `≤ ${MEMORY_LIMIT / 1e6} MB`,
      measured: mixed && Math.max(...[mixed.early, mixed.late].map(({ ours, floor }) => ours - floor)),
      format: mb,
      isMet: atMost(MEMORY_LIMIT),
      fault,
    }),
    compare({
      value: `memory growth from ${MEMORY_SPAN.early} to ${MEMORY_SPAN.late} mixed requests`,
      target: `≤ ${GROWTH_LIMIT * 100} %`,
      measured: mixed && mixed.late.ours / mixed.early.ours - 1,
      format: percent,
      isMet: atMost(GROWTH_LIMIT),
      fault,
    }),
    compare({
      value: `live heap after ${MEMORY_SPAN.late} mixed requests`,
      target: `≤ ${HEAP_LIMIT / 1e6} MB`,
      measured: mixed?.heap,
      format: mb,
      isMet: atMost(HEAP_LIMIT),
      fault,
    }),
  ];
}

function startRows(results: Results): TargetRow[] {
  const { starts } = results;
  const row = (value: string, limit: number, measured: number | undefined) =>
    compare({
      value: `time to the first response, ${value}`,
      target: `≤ ${limit} ms`,
      measured,
      format: ms,
      isMet: atMost(limit),
      fault: faultOf(results, 'start'),
    });
  return [
    row('packaged', START_LIMITS_MS.packaged, starts?.packagedMs),
    row('from source with a warm compile cache', START_LIMITS_MS.source, starts?.sourceMs),
  ];
}

const documentsRow = (results: Results): TargetRow =>
  compare({
    value: 'CPU time per request of documents that never repeat',
    target: `≤ ${DOCUMENTS_LIMIT} × a repeated one`,
    measured: results.documents?.ratio,
    format: times,
    isMet: atMost(DOCUMENTS_LIMIT),
    fault: faultOf(results, 'documents'),
  });

const idleRow = ({ rest }: Results): TargetRow =>
  compare({
    value: 'idle CPU, as a share of one core',
    target: 'about 0 %',
    measured: rest[OURS.name]?.idleCpu,
    format: percent,
    isMet: atMost(IDLE_LIMIT),
  });
