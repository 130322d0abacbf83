/** Tests that start processes or browsers, wait for real timeouts, or try many examples. `npm run test:quick` runs all others. */
export const TAKES_LONG = [
  'test/{add-a-noun,attacks,browser,cli,deploy,docs,rate-limits,redis,sandbox-versions}/**/*.test.ts',
  'test/auth/issuer-keys.test.ts',
  'test/client/{libraries,relay,retries}.test.ts',
  'test/graphql/trusted-documents.test.ts',
  'test/upstream/{cache/{loads,redis-*,rejected-keys},faults,network,properties,silent-upstream}.test.ts',
];

/** Tests with samples, which are small in `npm test` and large in `npm run test:slow`. */
export const TAKES_SAMPLES = ['test/slow/**/*.test.ts'];

/** Tests with samples that measure time or shares of work. They run one after the other, after all others, which would distort them. */
export const MEASURES = [
  'test/slow/{default-timeouts,rate-limit-processes,rejected,repeated-responses,stalled-connections}.test.ts',
  'test/slow/{upstream-bodies,upstream-lists,upstream-scans,workers}.test.ts',
];

/** Tests of other folders with samples: small in `npm test`, large in `npm run test:slow`. */
export const HAVE_SAMPLES = [
  'test/upstream/{credential-filter,properties,sweeps}.test.ts',
  'test/upstream/cache/{loads,memory-store,redis-store}.test.ts',
];

/** Tests that need large samples and therefore run only in `npm run test:slow`. */
export const ONLY_LARGE = [
  'test/slow/{cache-isolation,cache-memory,cache-outage,cache-stampede,cache-workers,default-timeouts,federation,memory,prometheus,rate-limit-memory}.test.ts',
  'test/slow/{import,mcp-conformance,rate-limit-processes,rejected,reload,repeated-responses,sigterm,stalled-connections,traces}.test.ts',
  'test/slow/{upstream-bodies,upstream-lists,upstream-scans,worker-failures,workers}.test.ts',
];

/** Tests that build, pack or check the whole project. They would slow down others that measure, so only `npm run test:package` runs them. */
export const BUILDS = ['test/package/**/*.test.ts', 'test/add-a-noun/types.test.ts'];
