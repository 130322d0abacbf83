import type { CounterMemory, Family } from './counter-memory.ts';
import type { Labels } from './metrics-snapshot.ts';

/** Counts and durations of outcomes with the same labels. */
export interface OutcomeSamples {
  /** Counts an outcome. */
  add(outcome: string, milliseconds: number): void;
}

/** Metrics of outcomes. */
interface OutcomeMetrics {
  /** Number of outcomes. */
  counts: Omit<Family, 'type'>;
  /** Label of the counts that tells the outcome. */
  label: string;
  /** Durations of all outcomes. */
  durations: Omit<Family, 'type'>;
}

/** Upper bounds of the buckets, in seconds. The last one is the default timeout of operations. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Adds the metrics of outcomes to a memory. Returns a function that creates the samples of outcomes with some labels. */
export function addOutcomes(memory: CounterMemory, { counts, label, durations }: OutcomeMetrics) {
  const addCount = memory.addFamily({ ...counts, type: 'counter' });
  const addDuration = memory.addFamily({ ...durations, type: 'histogram' });

  return (labels: Labels): OutcomeSamples => {
    const positions = new Map<string, number>();
    const buckets = BOUNDS.map((le) => addDuration({ le, ...labels }, `${durations.name}_bucket`));
    const infinite = addDuration({ le: '+Inf', ...labels }, `${durations.name}_bucket`);
    const count = addDuration(labels, `${durations.name}_count`); // Next to the last bucket, which has the same value.
    const sum = addDuration(labels, `${durations.name}_sum`);

    return {
      add(outcome, milliseconds) {
        let position = positions.get(outcome);
        if (position === undefined) {
          position = addCount({ ...labels, [label]: outcome });
          positions.set(outcome, position);
        }
        memory.increase(position, 1);
        const seconds = milliseconds / 1_000;
        let bucket = 0;
        while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) {
          bucket += 1;
        }
        memory.count(buckets[bucket] ?? infinite, count);
        memory.increase(sum, seconds);
      },
    };
  };
}

/** Returns the samples of a key. Creates them if there are none. */
export function samplesOf<Key>(all: Map<Key, OutcomeSamples>, key: Key, create: () => OutcomeSamples): OutcomeSamples {
  let samples = all.get(key);
  if (samples === undefined) {
    samples = create();
    all.set(key, samples);
  }
  return samples;
}
