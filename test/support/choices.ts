// Makes the choices of generators repeatable, from a tape or a seed.

/** Choices that control a generator. Zeros generate the smallest result, so that fast-check shrinks a tape to a small example. */
export interface Choices {
  /** Returns an integer from 0 to `count - 1`. */
  pick(count: number): number;
  /** Returns true once in `times`, on average. */
  oneIn(times: number): boolean;
  /** Returns one of the values. */
  of<T>(values: readonly [T, ...T[]]): T;
}

function createChoices(next: () => number): Choices {
  const pick = (count: number): number => next() % count;
  return {
    pick,
    oneIn: (times) => pick(times) === times - 1,
    of: (values) => values[pick(values.length)] ?? values[0],
  };
}

/** Reads choices from a tape, with zeros after its end. */
export function readTape(tape: readonly number[]): Choices {
  let position = 0;
  return createChoices(() => tape[position++] ?? 0);
}

/** Creates endless choices that depend only on the seed and the label. */
export function createRandom(seed: number, label: string): Choices {
  let state = seed ^ 0x9e3779b9;
  for (let index = 0; index < label.length; index += 1) {
    state = Math.imul(state ^ label.charCodeAt(index), 0x01000193);
  }
  return createChoices(() => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 1;
  });
}
