import { createDurations, type Durations, type Labelled, type Labels } from './figures.ts';

/** How often each outcome came, and how long it took. */
export interface Series {
  readonly counts: ReadonlyMap<string, number>;
  readonly durations: Durations;
  add(outcome: string, milliseconds: number): void;
}

function createSeries(): Series {
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
export function seriesOf(all: Map<string, Series>, key: string): Series {
  let series = all.get(key);
  if (series === undefined) {
    series = createSeries();
    all.set(key, series);
  }
  return series;
}

/** How often each outcome came, as a label of this name. */
export const countsOf = (all: readonly Labelled<Series>[], label: string): Labelled<number>[] =>
  all.flatMap(([labels, { counts }]) =>
    Array.from(counts, ([outcome, count]): Labelled<number> => [{ ...labels, [label]: outcome }, count]),
  );

export const durationsOf = (all: readonly Labelled<Series>[]): Labelled<Durations>[] =>
  all.map(([labels, { durations }]): [Labels, Durations] => [labels, durations]);
