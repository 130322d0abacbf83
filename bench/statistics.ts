/** The value in the middle; of an even number, the mean of the two there. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2;
}

/** How far apart the values are, as a share of the one in the middle. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / median(values);

/** The values without the lowest and the highest quarter. */
export function middleHalf(values: readonly number[]): number[] {
  const quarter = Math.floor(values.length / 4);
  return values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
}
