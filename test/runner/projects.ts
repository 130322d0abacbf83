/** Tests that start processes or browsers: everything else is in `npm run test:quick`. */
export const STARTS_PROCESSES = [
  'test/{add-a-noun,attacks,browser,cli,docs,sandbox-versions}/**/*.test.ts',
  'test/package.test.ts',
];

/** Tests that take samples: small ones in `npm test`, large ones in `npm run test:slow`. */
export const TAKES_SAMPLES = ['test/slow/**/*.test.ts'];
