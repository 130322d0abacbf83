/**
 * Runs a function whose errors have no stack trace. A trace keeps everything that its functions can reach: 24 KB for an error of
 * validation, and errors are cached with their documents.
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
