import { load } from './load.ts';
import type { MeasureOptions } from './measure.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';
import { median } from './statistics.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** Workloads whose latency is measured. */
export const LATENCY_WORKLOADS: readonly WorkloadName[] = ['q1', 'q2', 'm1'];

/** Latency at a fixed request rate: medians over the rounds. */
export interface LatencyFigures {
  key: string;
  /** Requests per second: half the floor's throughput. */
  rate: number;
  /** Latency by subject name. */
  subjects: Record<string, { p50Us: number; p99Us: number }>;
  /** Our p99 as a multiple of the floor's, for each round. */
  ratios: number[];
  /** Median of `ratios`. */
  ratio: number;
}

/** Measures the latency of the floor and ours in turns at the same rate. */
export async function measureLatency(
  name: WorkloadName,
  rate: number,
  [floor, ours]: readonly [RunningSubject, RunningSubject],
  upstream: RunningUpstream,
  { rounds, seconds, report }: MeasureOptions,
): Promise<LatencyFigures> {
  const workload = WORKLOADS[name];
  await upstream.apply({ ...DEFAULT_SETTINGS, latencyMs: workload.latencyMs });
  const measure = async ({ subject, url }: RunningSubject) => {
    const { failed, p50Us, p99Us } = await load(url, workload, subject.requests[name] ?? {}, { seconds, rate });
    if (failed > 0) {
      throw new Error(`${subject.title} sent ${failed} wrong responses to ${name} at ${rate} requests per second.`);
    }
    return { p50Us, p99Us };
  };
  const turns: { floor: { p50Us: number; p99Us: number }; ours: { p50Us: number; p99Us: number } }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const turn = { floor: await measure(floor), ours: await measure(ours) };
    turns.push(turn);
    report(
      `${name} at ${rate}/s round ${round} of ${rounds}: p99 ${turn.floor.p99Us} µs for the floor, ${turn.ours.p99Us} µs for ${ours.subject.title}`,
    );
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
