import { createDurations, type Durations, type Labelled, type Labels } from './metrics-snapshot.ts';

/** How often each outcome came, and how long it took. */
export interface OutcomeSamples {
  readonly counts: ReadonlyMap<string, number>;
  readonly durations: Durations;
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

/** The series of a key; a new one where there is none. */
export function samplesOf(all: Map<string, OutcomeSamples>, key: string): OutcomeSamples {
  let series = all.get(key);
  if (series === undefined) {
    series = createOutcomeSamples();
    all.set(key, series);
  }
  return series;
}

/** How often each outcome came, as a label of this name. */
export const countsOf = (all: readonly Labelled<OutcomeSamples>[], label: string): Labelled<number>[] =>
  all.flatMap(([labels, { counts }]) =>
    Array.from(counts, ([outcome, count]): Labelled<number> => [{ ...labels, [label]: outcome }, count]),
  );

export const durationsOf = (all: readonly Labelled<OutcomeSamples>[]): Labelled<Durations>[] =>
  all.map(([labels, { durations }]): [Labels, Durations] => [labels, durations]);
