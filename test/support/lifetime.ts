// Disposes what tests have started at the end of a test, or of its file.

import { afterAll, onTestFinished } from 'vitest';

/** Shares a resource between all tests of the file that starts it, outside of its tests. */
export function ofFile<T extends AsyncDisposable>(resource: T): T {
  afterAll(() => resource[Symbol.asyncDispose]());
  return resource;
}

/** Keeps a resource until the end of the test. */
export function ofTest<T extends AsyncDisposable>(resource: T): T {
  onTestFinished(() => resource[Symbol.asyncDispose]());
  return resource;
}
