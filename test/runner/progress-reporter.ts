import {
  DefaultReporter,
  type SerializedError,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
} from 'vitest/node';

/** Prints a line with a count for each finished test file, even if the output is not a terminal. In CI, skipped tests fail the run. */
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
    if (process.env.CI && skipped.length > 0) {
      this.error(`In CI every test must run, but ${skipped.length} were skipped:`);
      for (const test of skipped) {
        this.error(`  ${test.module.relativeModuleId}: ${test.fullName}`);
      }
      process.exitCode = 1;
    }
  }
}
