// Summarizes the rounds of a run, and voids results that vary too much.

import type { Round, RoundsOfStart } from './rounds.ts';
import { mean, median, spread } from './statistics.ts';
import type { Workload } from './workloads.ts';

/** Maximum spread of the starts. Above it, a subject's results are void. */
const MAX_SPREAD = 0.25;

/** Results of one subject with one workload: medians over the starts of each start's median, and the mean of the upstream requests. */
export interface Figures extends Round {
  /** Number of rounds of all starts. */
  rounds: number;
  /** Judged value as a multiple of the floor's in the same round. */
  ratio: number;
  /** Spread of the ratios of the starts; of the rounds, if there is only one start. */
  spread: number;
}

/** Results of one subject, or the reason why they are void or missing. */
export interface Outcome {
  fault?: string;
  figures?: Figures;
}

/** Results of one workload. */
export interface WorkloadFigures {
  key: string;
  title: string;
  judgedBy: Workload['judgedBy'];
  /** Outcomes by subject name. */
  subjects: Record<string, Outcome>;
}

/** Summarizes the starts of all subjects with one workload. @param starts rounds of each start, by subject name */
export function summarize(
  key: string,
  { title, judgedBy }: Workload,
  starts: readonly Readonly<Record<string, RoundsOfStart>>[],
): WorkloadFigures {
  const names = new Set(starts.flatMap((start) => Object.keys(start)));
  const outcomes = [...names].map((name) => [name, summarizeSubject(starts.flatMap((start) => start[name] ?? []))]);
  return { key, title, judgedBy, subjects: Object.fromEntries(outcomes) };
}

/** Processes of the same code differ by up to 20 % for as long as they live, so each start counts as much as any other. */
function summarizeSubject(starts: readonly RoundsOfStart[]): Outcome {
  const fault = starts.find((start) => start.fault !== undefined)?.fault;
  if (fault !== undefined) {
    return { fault };
  }
  const medianOf = (name: keyof Round) =>
    median(starts.map(({ rounds }) => median(rounds.map((round) => round[name]))));
  const rounds = starts.flatMap((start) => start.rounds);
  const ratios = starts.map((start) => median(start.ratios));
  const figures: Figures = {
    rounds: rounds.length,
    cpuUs: medianOf('cpuUs'),
    perSecond: medianOf('perSecond'),
    p50Us: medianOf('p50Us'),
    p99Us: medianOf('p99Us'),
    calls: mean(rounds.map(({ calls }) => calls)), // The median would ignore the rounds in which a cache refreshes its entries.
    ratio: median(ratios),
    spread: spread(starts.length === 1 ? starts.flatMap((start) => start.ratios) : ratios),
  };
  return figures.spread <= MAX_SPREAD
    ? { figures }
    : { fault: `spread of ${Math.round(figures.spread * 100)} %`, figures };
}
