// Reports the progress of a test run, and what it leaves out.

import { globSync } from 'node:fs';
import {
  DefaultReporter,
  type SerializedError,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
} from 'vitest/node';

/** Tests that `npm test` doesn't run, by the end of their file names. */
const LEFT_OUT = [
  { ending: '{slow,measure}', reason: 'most tests with a browser, large samples and measurements: npm run test:slow' },
  { ending: 'package', reason: 'the packed package, in real frameworks: npm run test:package' },
  { ending: 'upgrade', reason: 'the last release beside this version: npm run test:upgrade' },
];

/** Reasons of tests that CI may leave out too: the machine doesn't permit them, or they start the service, which is no part of the project. */
const NOT_PERMITTED = /\(left out: (?:not permitted |no clone of the service)/;

/**
 * Prints a line with a count for each finished test file, even if the output is not a terminal, and what `npm test` left out. In CI, skipped tests
 * fail the run, unless no installation of ours would help.
 */
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #ended = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#ended = 0;
  }

  override onTestModuleEnd(module: TestModule): void {
    this.#ended += 1;
    super.onTestModuleEnd(module);
  }

  /** Called by the base class when a file has finished. */
  protected override printTestModule(module: TestModule): void {
    if (!module.ok()) {
      super.printTestModule(module);
    }
    const count = `[${String(this.#ended).padStart(String(this.#files).length)}/${this.#files}]`;
    const tests = [...module.children.allTests()].length;
    const seconds = (module.diagnostic().duration / 1_000).toFixed(1);
    const outcome = module.ok() ? '' : ' FAILED';
    this.log(`${count} ${module.relativeModuleId} ${tests} tests ${seconds} s${outcome}`);
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const missing = skipped.filter(({ fullName }) => !NOT_PERMITTED.test(fullName));
    if (!process.env.CI) {
      this.#printLeftOut(skipped);
    } else if (missing.length > 0) {
      this.error(`In CI every test must run, but ${missing.length} were skipped:`);
      for (const test of missing) {
        this.error(`  ${test.module.relativeModuleId}: ${test.fullName}`);
      }
      process.exitCode = 1;
    }
  }

  #printLeftOut(skipped: readonly TestCase[]): void {
    const byReason = Map.groupBy(skipped, ({ fullName }) => /\(left out: (.+?)\)/.exec(fullName)?.[1]);
    const lines = [...byReason].flatMap(([reason, tests]) =>
      reason === undefined ? [] : `${count(tests.length, 'test')}: ${reason}`,
    );
    if (process.env.npm_lifecycle_event === 'test') {
      lines.push(
        ...LEFT_OUT.map(({ ending, reason }) => {
          const files = globSync(`{test,packages/*/test}/**/*.${ending}.test.ts`);
          return `${count(files.length, 'file')}: ${reason}`;
        }),
      );
    }
    if (lines.length > 0) {
      this.log(['Left out (all of it runs in CI):', ...lines.map((line) => `  ${line}`)].join('\n'));
    }
  }
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
