/** Tests that start processes or browsers, wait for real timeouts, or try many examples. `npm run test:quick` runs all others. */
export const TAKES_LONG = [
  'test/{add-a-noun,attacks,browser,cli,deploy,docs,rate-limits,redis}/**/*.test.ts',
  'packages/graphiql/test/*.test.ts',
  'packages/client/test/{libraries,relay,retries}.test.ts',
  'test/auth/issuer-keys.test.ts',
  'test/field-reports/wire-tokens.test.ts',
  'test/field-reports/outcomes.test.ts',
  'test/graphql/trusted-documents.test.ts',
  'test/modules/{cache,endpoints}.test.ts',
  'test/upstream/{cache/{loads,redis-*,rejected-keys},faults,network,properties,upstream-headers}.test.ts',
];

/** Tests with samples, which are small in `npm test` and large in `npm run test:slow`. */
export const TAKES_SAMPLES = ['test/slow/**/*.test.ts'];

/** Tests with samples that measure time or shares of work. They run one after the other, after all others, which would distort them. */
export const MEASURES = [
  'test/slow/{default-timeouts,rejected,repeated-responses,stalled-connections,upstream-bodies,upstream-scans}.test.ts',
  'test/slow/workers.test.ts',
];

/** Tests of other folders with samples: small in `npm test`, large in `npm run test:slow`. */
export const HAVE_SAMPLES = [
  'test/upstream/{credential-filter,properties,sweeps}.test.ts',
  'test/upstream/cache/{loads,memory-store,redis-store}.test.ts',
];

/** Tests that need large samples and therefore run only in `npm run test:slow`. */
export const ONLY_LARGE = [
  'test/slow/{cache-isolation,cache-memory,cache-outage,cache-stampede,cache-workers,default-timeouts,federation,host-plugin-plans,import,mcp-conformance,memory,outages,prometheus}.test.ts',
  'test/slow/{rejected,reload,repeated-responses,stalled-connections,traces,upstream-bodies,upstream-scans}.test.ts',
  'test/slow/{worker-failures,workers}.test.ts',
];

/** Tests that build, pack or check the whole project. They would slow down others that measure, so only `npm run test:package` runs them. */
export const BUILDS = ['test/package/**/*.test.ts', 'test/add-a-noun/types.test.ts'];
