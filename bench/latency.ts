// Measures the latency of the gateway and the floor at a fixed request rate.

import { load } from './load.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';
import { createRequests } from './requests.ts';
import type { MeasureOptions } from './rounds.ts';
import { median } from './statistics.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** Workloads whose latency is measured. */
export const LATENCY_WORKLOADS: readonly WorkloadName[] = ['q1', 'q2', 'm1'];

/** Minimum number of rounds for a p99 that counts. Single values vary by a factor of two. */
export const MIN_LATENCY_ROUNDS = 10;

/** Duration of a round with a backlog of requests, as a multiple of the planned one. */
const LATE = 1.1;

/** Latency of one subject, in microseconds. */
interface Percentiles {
  p50Us: number;
  p99Us: number;
}

/** Latency at a fixed request rate: medians over the rounds. */
export interface LatencyFigures {
  key: string;
  /** Requests per second: half the floor's throughput. */
  rate: number;
  /** Latency by subject name. */
  subjects: Record<string, Percentiles>;
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
  const { [name]: workload } = WORKLOADS;
  await upstream.setLatency(workload.latencyMs);
  const measure = ({ subject, url }: RunningSubject) =>
    load(url, { connections: workload.connections, next: createRequests(url, subject, workload), seconds, rate });
  const results: { floor: Percentiles[]; ours: Percentiles[] } = { floor: [], ours: [] };
  for (let round = 1; results.floor.length < rounds && round <= 2 * rounds; round += 1) {
    // Each goes first in every other round.
    const oursBefore = round % 2 === 0 ? await measure(ours) : undefined;
    const ofFloor = await measure(floor);
    const ofOurs = oursBefore ?? (await measure(ours));
    const isValid =
      [ofFloor, ofOurs].every(({ failed, refused }) => failed + refused === 0) && ofFloor.seconds <= LATE * seconds;
    if (isValid) {
      results.floor.push(ofFloor);
      results.ours.push(ofOurs);
    }
    const line = `p99 ${ofFloor.p99Us} µs for the floor, ${ofOurs.p99Us} µs for ${ours.subject.title}`;
    report(`${name} at ${rate}/s round ${round} of ${rounds}: ${line}${isValid ? '' : ', left out'}`);
  }
  const summarize = (percentiles: readonly Percentiles[]): Percentiles => ({
    p50Us: median(percentiles.map(({ p50Us }) => p50Us)),
    p99Us: median(percentiles.map(({ p99Us }) => p99Us)),
  });
  const ratios = results.ours.map(({ p99Us }, index) => p99Us / (results.floor[index]?.p99Us ?? Number.NaN));
  return {
    key: name,
    rate,
    subjects: { [floor.subject.name]: summarize(results.floor), [ours.subject.name]: summarize(results.ours) },
    ratios,
    ratio: median(ratios),
  };
}
