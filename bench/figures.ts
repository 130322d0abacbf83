import { mean, median, middleHalf, spread } from './statistics.ts';
import { CACHED } from './subjects.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

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

/** Results of one subject with one workload: medians over the rounds, and the mean of the upstream requests. */
export interface Figures extends Round {
  rounds: number;
  /** Judged value as a multiple of the floor's in the same round. */
  ratio: number;
  /** Spread of the ratios of the rounds. */
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

/** Returns whether a subject has a row among a workload's results: Notigraph with the cache has its own workload. */
export const isShown = (subject: string, { key, subjects }: WorkloadFigures): boolean =>
  subjects[subject] !== undefined || (key !== WORKLOADS.h2.name && subject !== CACHED.name);

const FIGURE = { cpu: 'cpuUs', time: 'p50Us', calls: 'calls' } as const;

/** Returns the value of a round that is compared with the target. */
export const judgedValue = (round: Round, { judgedBy }: Workload): number => round[FIGURE[judgedBy]];

/** Returns the spread of the rounds. If more than planned were run, only the middle half counts, to ignore bursts of other load. */
const spreadOf = (ratios: readonly number[], planned: number): number =>
  spread(ratios.length > planned ? middleHalf(ratios) : ratios);

/**
 * Returns whether the rounds agree. Compares multiples of the floor: a slow phase of the machine changes absolute values, but no result.
 */
export const isSpreadAcceptable = (ratios: readonly number[], planned: number): boolean =>
  spreadOf(ratios, planned) <= MAX_SPREAD;

/** Summarizes the rounds of one subject. @param ratios judged value of each round as a multiple of the floor's */
export function summarize(rounds: readonly Round[], ratios: readonly number[], planned: number): Outcome {
  const valuesOf = (name: keyof Round) => rounds.map((round) => round[name]);
  const figures: Figures = {
    rounds: rounds.length,
    cpuUs: median(valuesOf('cpuUs')),
    perSecond: median(valuesOf('perSecond')),
    p50Us: median(valuesOf('p50Us')),
    p99Us: median(valuesOf('p99Us')),
    calls: mean(valuesOf('calls')), // The median would ignore the rounds in which a cache refreshes its entries.
    ratio: median(ratios),
    spread: spreadOf(ratios, planned),
  };
  return isSpreadAcceptable(ratios, planned)
    ? { figures }
    : { fault: `spread of ${Math.round(figures.spread * 100)} %`, figures };
}

/** Returns the results of a workload that could not be measured. */
export const voidFigures = (
  key: string,
  { title, judgedBy }: Workload,
  subjects: readonly string[],
  fault: string,
): WorkloadFigures => ({
  key,
  title,
  judgedBy,
  subjects: Object.fromEntries(subjects.map((name) => [name, { fault }])),
});
