import {
  DefaultReporter,
  type SerializedError,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
} from 'vitest/node';

/** Prints a line with a count for each finished test file, even if the output is not a terminal, and the tests that lack a program. In CI, skipped tests fail the run. */
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
    const isCi = Boolean(process.env.CI);
    const listed = isCi ? skipped : skipped.filter(({ fullName }) => fullName.includes('(left out: '));
    if (listed.length > 0) {
      this.error(isCi ? `In CI every test must run, but ${listed.length} were skipped:` : 'Skipped:');
      for (const test of listed) {
        this.error(`  ${test.module.relativeModuleId}: ${test.fullName}`);
      }
    }
    if (isCi && listed.length > 0) {
      process.exitCode = 1;
    }
  }
}
