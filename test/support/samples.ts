/** Whether tests take large samples, as in `npm run test:slow`. */
export const IS_LARGE = process.env.NOTIGRAPH_TEST_SAMPLES === 'large';

/** Returns how much a test does: little in `npm test`, much in `npm run test:slow`. */
export const sampleSize = (small: number, large: number): number => (IS_LARGE ? large : small);

/** Returns all cases in `npm run test:slow`; in `npm test` the first of every so many. */
export const sampleOf = <T>(cases: readonly T[], every: number): T[] =>
  cases.filter((_, i) => IS_LARGE || i % every === 0);
