// Runs functions that may throw, reads the code of what was thrown, and defines the error for operators.

/** Reason, in what an operator has installed or configured, why the gateway can't start. The message is a clause for the operator. */
export class SetupError extends Error {}

/** Runs a function. Returns the error of a class that it throws; undefined if it returns. Throws other errors. */
export function caught<E extends Error>(type: abstract new (...args: never) => E, run: () => unknown): E | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof type) {
      return error;
    }
    throw error;
  }
}

/** Runs a function. Returns its result; undefined if it throws. */
export function orUndefined<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Returns the code of an error of the system, such as `ENOENT`; undefined if it has none. */
export function errorCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
