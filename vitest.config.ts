import { defineConfig } from 'vitest/config';
import LongestFirst from './test/runner/longest-first.ts';
import { BUILDS, HAVE_SAMPLES, MEASURES, ONLY_LARGE, TAKES_LONG, TAKES_SAMPLES } from './test/runner/projects.ts';
import { CHILD_ENV } from './test/support/child-env.ts';
import { IS_LARGE } from './test/support/samples.ts';

/** For the projects whose tests start processes. */
const globalSetup = ['./test/runner/build-command.ts'];

export default defineConfig({
  test: {
    // Node.js runs the tests as it runs the gateway: it removes the types by itself.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      '--conditions=notigraph-source', // The examples import the package, which isn't built.
      ...(process.env.NOTIGRAPH_TEST_GRAPHQL === undefined ? [] : ['--import=./test/runner/other-graphql.js']),
    ],
    globalSetup: ['./test/runner/build-graphiql.ts', './test/runner/unpack-browser.ts'],
    env: { NODE_COMPILE_CACHE: CHILD_ENV.NODE_COMPILE_CACHE },
    isolate: false, // Files that a worker runs share its process, and the modules of src/ in it.
    maxWorkers: 3, // For two cores: many tests wait.
    testTimeout: 60_000, // Generous, as all limits here: it costs nothing on a machine that is not busy.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ['./test/runner/progress-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/testing/*.vitest.test.ts'],
          exclude: ['**/node_modules/**', ...TAKES_LONG, ...TAKES_SAMPLES, ...BUILDS],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: TAKES_LONG,
          exclude: BUILDS,
          globalSetup,
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [...TAKES_SAMPLES, ...(IS_LARGE ? HAVE_SAMPLES : [])],
          exclude: [...MEASURES, ...(IS_LARGE ? [] : ONLY_LARGE)],
          globalSetup,
          testTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'measures',
          include: MEASURES,
          exclude: IS_LARGE ? [] : ONLY_LARGE,
          globalSetup,
          testTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'package', include: BUILDS, testTimeout: 300_000, hookTimeout: 600_000 },
      },
    ],
  },
});
