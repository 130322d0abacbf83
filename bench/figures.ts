import { median, middleHalf, spread } from './statistics.ts';
import type { Workload } from './workloads.ts';

/** More than this between the lowest and the highest round, and a subject's figures are void. */
const MAX_SPREAD = 0.15;

/** One subject under load once. */
export interface Round {
  /** CPU time of all its processes for a request. */
  cpuUs: number;
  perSecond: number;
  p50Us: number;
  p99Us: number;
  /** Upstream requests for one of its own. */
  calls: number;
}

/** What one subject did with one workload: medians over the rounds. */
export interface Figures extends Round {
  rounds: number;
  /** The figure that the bar is about, as a multiple of the floor's in the same round. */
  ratio: number;
  /** How far apart the rounds are in that figure. */
  spread: number;
}

/** A fault says why the figures are void, or missing. */
export interface Outcome {
  fault?: string;
  figures?: Figures;
}

export interface WorkloadFigures {
  key: string;
  title: string;
  judgedBy: Workload['judgedBy'];
  /** By the name of the subject. */
  subjects: Record<string, Outcome>;
}

const FIGURE = { cpu: 'cpuUs', time: 'p50Us', calls: 'calls' } as const;

/** The figure of a round that the bar is about. */
export const judged = (round: Round, { judgedBy }: Workload): number => round[FIGURE[judgedBy]];

/** Of more rounds than were planned the middle half counts: a burst of other work on the machine voids nothing. */
function spreadOf(rounds: readonly Round[], workload: Workload, planned: number): number {
  const values = rounds.map((round) => judged(round, workload));
  return spread(values.length > planned ? middleHalf(values) : values);
}

/** Whether the rounds lie close enough to count. */
export const areClose = (rounds: readonly Round[], workload: Workload, planned: number): boolean =>
  spreadOf(rounds, workload, planned) <= MAX_SPREAD;

/** @param ratios the rounds as multiples of the floor's */
export function summarize(
  rounds: readonly Round[],
  ratios: readonly number[],
  workload: Workload,
  planned: number,
): Outcome {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  const figures: Figures = {
    rounds: rounds.length,
    cpuUs: of('cpuUs'),
    perSecond: of('perSecond'),
    p50Us: of('p50Us'),
    p99Us: of('p99Us'),
    calls: of('calls'),
    ratio: median(ratios),
    spread: spreadOf(rounds, workload, planned),
  };
  return areClose(rounds, workload, planned)
    ? { figures }
    : { fault: `its rounds are ${Math.round(figures.spread * 100)} % apart`, figures };
}
