import { median, middleHalf, spread } from './statistics.ts';
import type { Workload } from './workloads.ts';

/** Maximum spread of the rounds. Above it, a subject's results are void. */
const MAX_SPREAD = 0.15;

/** Result of one load of one subject. */
export interface Round {
  /** CPU time of all its processes per request. */
  cpuUs: number;
  perSecond: number;
  p50Us: number;
  p99Us: number;
  /** Upstream requests per request. */
  calls: number;
}

/** Results of one subject with one workload: medians over the rounds. */
export interface Figures extends Round {
  rounds: number;
  /** Judged value as a multiple of the floor's in the same round. */
  ratio: number;
  /** Spread of the judged value over the rounds. */
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

const FIGURE = { cpu: 'cpuUs', time: 'p50Us', calls: 'calls' } as const;

/** Returns the value of a round that is compared with the target. */
export const judgedValue = (round: Round, { judgedBy }: Workload): number => round[FIGURE[judgedBy]];

/** Returns the spread of the rounds. If more than planned were run, only the middle half counts, to ignore bursts of other load. */
function spreadOf(rounds: readonly Round[], workload: Workload, planned: number): number {
  const values = rounds.map((round) => judgedValue(round, workload));
  return spread(values.length > planned ? middleHalf(values) : values);
}

/** Returns whether the spread of the rounds is small enough. */
export const isSpreadAcceptable = (rounds: readonly Round[], workload: Workload, planned: number): boolean =>
  spreadOf(rounds, workload, planned) <= MAX_SPREAD;

/** Summarizes the rounds of one subject. @param ratios judged value of each round as a multiple of the floor's */
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
  return isSpreadAcceptable(rounds, workload, planned)
    ? { figures }
    : { fault: `spread of ${Math.round(figures.spread * 100)} %`, figures };
}
