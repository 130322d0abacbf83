/** Tests that start processes or browsers, wait for real timeouts, or try many examples: all others are in `npm run test:quick`. */
export const TAKES_LONG = [
  'test/{add-a-noun,attacks,browser,cli,docs,rate-limits,sandbox-versions}/**/*.test.ts',
  'test/package.test.ts',
  'test/auth/issuer-keys.test.ts',
  'test/client/libraries.test.ts',
  'test/graphql/trusted-documents.test.ts',
  'test/upstream/{faults,properties,silent-upstream}.test.ts',
];

/** Tests that take samples: small ones in `npm test`, large ones in `npm run test:slow`. */
export const TAKES_SAMPLES = ['test/slow/**/*.test.ts'];

/** Tests of which a small sample would show nothing: they run in `npm run test:slow` alone. */
export const ONLY_LARGE = ['test/slow/{default-timeouts,memory,rate-limit-memory}.test.ts'];
