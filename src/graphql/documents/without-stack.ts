/**
 * Runs a function without recording stack traces in its errors. A trace keeps everything alive that its functions can reach: 24 KB per
 * validation error, and these are cached with their documents.
 */
export function withoutStack<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
