/** Measurement: a time in seconds and a size in MB. */
export interface Sample {
  at: number;
  size: number;
}

/** Returns the slope of the regression line through the samples, in MB per minute. */
export function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middleAt = mean(samples.map(({ at }) => at));
  const middleSize = mean(samples.map(({ size }) => size));
  const above = samples.reduce((sum, { at, size }) => sum + (at - middleAt) * (size - middleSize), 0);
  const below = samples.reduce((sum, { at }) => sum + (at - middleAt) ** 2, 0);
  return below === 0 ? 0 : (above / below) * 60;
}

/** Returns the relative growth of the median from the second third of the samples to the last; 0.1 is 10 %. */
export function lateGrowth(samples: readonly Sample[]): number {
  const third = Math.floor(samples.length / 3);
  const second = median(samples.slice(third, 2 * third));
  return second === 0 ? 0 : median(samples.slice(2 * third)) / second - 1;
}

function median(samples: readonly Sample[]): number {
  const sizes = samples.map(({ size }) => size).toSorted((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 0;
}
