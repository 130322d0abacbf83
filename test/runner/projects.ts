/** Tests that start processes or browsers, wait for real timeouts, or try many examples. `npm run test:quick` runs all others. */
export const TAKES_LONG = [
  'test/{add-a-noun,attacks,browser,cli,docs,rate-limits,sandbox-versions}/**/*.test.ts',
  'test/auth/issuer-keys.test.ts',
  'test/client/{libraries,relay}.test.ts',
  'test/graphql/trusted-documents.test.ts',
  'test/upstream/{faults,properties,silent-upstream}.test.ts',
];

/** Tests with samples, which are small in `npm test` and large in `npm run test:slow`. */
export const TAKES_SAMPLES = ['test/slow/**/*.test.ts'];

/** Tests that need large samples and therefore run only in `npm run test:slow`. */
export const ONLY_LARGE = ['test/slow/{default-timeouts,memory,rate-limit-memory}.test.ts'];

/** Tests that build, pack or check the whole project. They would slow down others that measure, so only `npm run test:package` runs them. */
export const BUILDS = ['test/package/**/*.test.ts', 'test/add-a-noun/types.test.ts'];
