// Chooses the tests that each npm script runs, and how Vitest runs them.

import { defineConfig } from 'vitest/config';
import LongestFirst from './test/runner/longest-first.ts';
import { CHILD_ENV } from './test/support/child-env.ts';
import { IS_LARGE } from './test/support/samples.ts';

/** Returns the tests whose files end so, in any folder. */
const ending = (suffix: string): string[] => [`{test,packages}/**/*${suffix}`];

/** Tests of many examples, which are few in `npm test` and many in `npm run test:slow`. */
const SAMPLES = ending('.samples.test.ts');

/** Whether only tests run that start no process and wait for nothing, as in `npm run test:quick`. */
const IS_QUICK = process.env.NOTIGRAPH_TEST_QUICK !== undefined;

export default defineConfig({
  test: {
    // Node.js runs the tests as it runs the gateway: it removes the types by itself.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      '--conditions=notigraph-source', // The examples import the package, which isn't built.
      ...(process.env.NOTIGRAPH_TEST_GRAPHQL === undefined ? [] : ['--import=./test/runner/other-graphql.js']),
    ],
    globalSetup: [
      './test/runner/build-graphiql.ts',
      ...(IS_QUICK ? [] : ['./test/runner/build-command.ts', './test/runner/unpack-browser.ts']),
    ],
    env: { NODE_COMPILE_CACHE: CHILD_ENV.NODE_COMPILE_CACHE },
    isolate: false, // Files that a worker runs share its process, and the modules of src/ in it.
    maxWorkers: 4, // For two cores: many tests wait.
    testTimeout: 120_000, // Generous, as all limits here: it costs nothing on a machine that is not busy.
    hookTimeout: 240_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ['./test/runner/progress-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'default', // What `npm test` runs: one project, because each one loads all modules again.
          include: [...ending('.test.ts'), 'examples/testing/*.vitest.test.ts'],
          exclude: [
            '**/node_modules/**',
            ...ending('.{slow,measure,package,upgrade}.test.ts'),
            ...(IS_LARGE || IS_QUICK ? SAMPLES : []),
            ...(IS_QUICK ? ending('.long.test.ts') : []),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow', // Tests that only CI runs: most of those with browsers, and those that need large samples.
          include: [...ending('.slow.test.ts'), ...(IS_LARGE ? SAMPLES : [])],
          testTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'measure', // Tests that measure time or shares of work. One after the other, after all others, which would distort them.
          include: ending('.measure.test.ts'),
          testTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'package', // Tests that build, pack or check the whole project, which would slow down others.
          include: ending('.package.test.ts'),
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'upgrade', // Tests of the last release beside this version.
          include: ending('.upgrade.test.ts'),
          testTimeout: 300_000,
        },
      },
    ],
  },
});
