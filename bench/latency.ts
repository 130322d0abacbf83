import { load } from './load.ts';
import type { MeasureOptions } from './measure.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';
import { median } from './statistics.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** Workloads whose latency is measured. */
export const LATENCY_WORKLOADS: readonly WorkloadName[] = ['q1', 'q2', 'm1'];

/** Duration of a round with a backlog of requests, as a multiple of the planned one. */
const LATE = 1.1;

/** Latency of one subject, in microseconds. */
interface Percentiles {
  p50Us: number;
  p99Us: number;
  /** Whether the last response was late by more than a tenth of the round. */
  isLate: boolean;
}

/** Latency at a fixed request rate: medians over the rounds. */
export interface LatencyFigures {
  key: string;
  /** Requests per second: half the floor's throughput. */
  rate: number;
  /** Latency by subject name. */
  subjects: Record<string, Omit<Percentiles, 'isLate'>>;
  /** Our p99 as a multiple of the floor's, for each round. */
  ratios: number[];
  /** Median of `ratios`. */
  ratio: number;
}

/**
 * Measures the latency of the floor and ours in turns at the same rate. Leaves out rounds with wrong or refused responses, and those that
 * other load made too slow even for the floor, and runs up to as many again instead.
 */
export async function measureLatency(
  name: WorkloadName,
  rate: number,
  [floor, ours]: readonly [RunningSubject, RunningSubject],
  upstream: RunningUpstream,
  { rounds, seconds, report }: MeasureOptions,
): Promise<LatencyFigures> {
  const workload = WORKLOADS[name];
  await upstream.apply({ ...DEFAULT_SETTINGS, latencyMs: workload.latencyMs });
  const measure = async ({ subject, url }: RunningSubject): Promise<Percentiles | undefined> => {
    const request = subject.requests[name] ?? {};
    const { failed, refused, p50Us, p99Us, ...result } = await load(url, workload, request, { seconds, rate });
    return failed + refused > 0 ? undefined : { p50Us, p99Us, isLate: result.seconds > LATE * seconds };
  };
  const turns: { floor: Percentiles; ours: Percentiles }[] = [];
  for (let round = 1; turns.length < rounds && round <= 2 * rounds; round += 1) {
    // Each goes first in every other round.
    const isFloorFirst = round % 2 === 1;
    const first = await measure(isFloorFirst ? floor : ours);
    const second = await measure(isFloorFirst ? ours : floor);
    const turn = isFloorFirst ? { floor: first, ours: second } : { floor: second, ours: first };
    const isValid = isComplete(turn) && !turn.floor.isLate;
    if (isValid) {
      turns.push(turn);
    }
    const line = `p99 ${turn.floor?.p99Us ?? '—'} µs for the floor, ${turn.ours?.p99Us ?? '—'} µs for ${ours.subject.title}`;
    report(`${name} at ${rate}/s round ${round} of ${rounds}: ${line}${isValid ? '' : ', left out'}`);
  }
  const summarize = (of: 'floor' | 'ours') => ({
    p50Us: median(turns.map((turn) => turn[of].p50Us)),
    p99Us: median(turns.map((turn) => turn[of].p99Us)),
  });
  const ratios = turns.map((turn) => turn.ours.p99Us / turn.floor.p99Us);
  return {
    key: name,
    rate,
    subjects: { [floor.subject.name]: summarize('floor'), [ours.subject.name]: summarize('ours') },
    ratios,
    ratio: median(ratios),
  };
}

const isComplete = (turn: {
  floor: Percentiles | undefined;
  ours: Percentiles | undefined;
}): turn is { floor: Percentiles; ours: Percentiles } => turn.floor !== undefined && turn.ours !== undefined;
