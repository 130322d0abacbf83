import { createDurations, type Durations, type Labelled, type Labels } from './metrics-snapshot.ts';

/** Counts and durations of outcomes. */
export interface OutcomeSamples {
  /** Number of times that each outcome occurred. */
  readonly counts: ReadonlyMap<string, number>;
  /** Durations of all outcomes. */
  readonly durations: Durations;
  /** Counts an outcome. */
  add(outcome: string, milliseconds: number): void;
}

function createOutcomeSamples(): OutcomeSamples {
  const counts = new Map<string, number>();
  const durations = createDurations();
  return {
    counts,
    durations,
    add(outcome, milliseconds) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      durations.add(milliseconds);
    },
  };
}

/** Returns the samples of a key. Creates them if there are none. */
export function samplesOf(all: Map<string, OutcomeSamples>, key: string): OutcomeSamples {
  let samples = all.get(key);
  if (samples === undefined) {
    samples = createOutcomeSamples();
    all.set(key, samples);
  }
  return samples;
}

/** Returns the counts, with the outcome as an additional label. */
export const countsOf = (all: readonly Labelled<OutcomeSamples>[], label: string): Labelled<number>[] =>
  all.flatMap(([labels, { counts }]) =>
    Array.from(counts, ([outcome, count]): Labelled<number> => [{ ...labels, [label]: outcome }, count]),
  );

/** Returns the durations. */
export const durationsOf = (all: readonly Labelled<OutcomeSamples>[]): Labelled<Durations>[] =>
  all.map(([labels, { durations }]): [Labels, Durations] => [labels, durations]);
