// Chooses between small samples and large ones.

/** Whether tests use large samples, as in `npm run test:slow`. */
export const IS_LARGE = process.env.NOTIGRAPH_TEST_SAMPLES === 'large';

/** Returns the sample size: the small one in `npm test`, the large one in `npm run test:slow`. */
export const sampleSize = (small: number, large: number): number => (IS_LARGE ? large : small);

/** Returns all cases in `npm run test:slow`, and every nth case in `npm test`. */
export const sampleOf = <T>(cases: readonly T[], every: number): T[] =>
  cases.filter((_, i) => IS_LARGE || i % every === 0);
