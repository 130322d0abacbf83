import type { CounterMemory } from './counter-memory.ts';

/** Counts of operations that use deprecated elements of the schema. */
export interface DeprecatedCounts {
  /** Adds elements without counting them. */
  declare(coordinates: readonly string[]): void;
  /** Counts an operation that uses the elements. */
  add(coordinates: readonly string[]): void;
}

/** Maximum number of elements with a count, because a plugin can replace the schema any number of times. */
const MAX_ELEMENTS = 1_000;

const FAMILY = {
  name: 'notigraph_deprecated_fields_total',
  help: 'Operations that use a deprecated field, argument, input field or enum value.',
  type: 'counter',
} as const;

/** Creates the counts of deprecated elements. The metric is absent as long as no element is deprecated. */
export function createDeprecatedCounts(memory: CounterMemory): DeprecatedCounts {
  let addCount: ReturnType<CounterMemory['addFamily']> | undefined;
  const counts = new Map<string, number>();

  const increase = (coordinates: readonly string[], by: 0 | 1) => {
    for (const coordinate of coordinates) {
      const position = counts.get(coordinate);
      if (position !== undefined) {
        memory.increase(position, by);
      } else if (counts.size < MAX_ELEMENTS) {
        addCount ??= memory.addFamily(FAMILY);
        const added = addCount({ field: coordinate });
        counts.set(coordinate, added);
        memory.increase(added, by);
      }
    }
  };

  return {
    declare: (coordinates) => increase(coordinates, 0),
    add: (coordinates) => increase(coordinates, 1),
  };
}
