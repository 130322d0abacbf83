import { GraphQLError } from 'graphql';

/** Bounds on one operation's variables and result. */
export interface ExecutionLimits {
  /** Maximum errors of fields. @default 100 */
  maxErrors?: number;
  /** Maximum values in the result: every field and every list item is one. @default 250_000 */
  maxValues?: number;
  /** Maximum size of the result as JSON, in bytes; estimated. @default 4_194_304 */
  maxResponseBytes?: number;
  /** Maximum items of a list returned by a resolver. @default 10_000 */
  maxListItems?: number;
  /** Values to complete before the event loop gets a turn: about 5 ms of work. @default 10_000 */
  valuesPerTurn?: number;
  /** Maximum items of a list in a variable. @default 1_000 */
  maxInputListItems?: number;
  /** Whether errors of variables leave out suggestions, which reveal names of the schema. @default false */
  hideSuggestions?: boolean;
}

export type Limits = Readonly<Required<ExecutionLimits>>;

export const DEFAULT_LIMITS: Limits = {
  maxErrors: 100,
  maxValues: 250_000,
  maxResponseBytes: 4 * 1024 * 1024,
  maxListItems: 10_000,
  valuesPerTurn: 10_000,
  maxInputListItems: 1_000,
  hideSuggestions: false,
};

/** The limits that stop an execution. */
export type StopReason = 'maxErrors' | 'maxValues' | 'maxResponseBytes';

const CODE = 'RESULT_LIMIT_EXCEEDED';

/** Thrown in place of a value once execution has stopped. Never becomes an error of the result. */
export const STOPPED = Symbol('execution stopped');

/** Returns the error without a path that explains why fields of the result are null. */
export function stopError(reason: StopReason, limits: Limits): GraphQLError {
  const limit = {
    maxErrors: `more than ${limits.maxErrors} errors`,
    maxValues: `more than ${limits.maxValues} values`,
    maxResponseBytes: `more than ${limits.maxResponseBytes} bytes`,
  }[reason];
  return new GraphQLError(
    `The result has ${limit}; execution stopped and the remaining fields are null. Request fewer fields or records.`,
    { extensions: { code: CODE } },
  );
}

/** Returns the error of a mutation that a limit kept from reporting its result. */
export function outcomeError(outcome: 'NOT_APPLIED' | 'UNKNOWN'): GraphQLError {
  const message =
    outcome === 'NOT_APPLIED'
      ? 'This mutation was not executed: an earlier one exceeded a limit on the result. Send it again on its own.'
      : 'This mutation was executed, but its result exceeds a limit. Check whether it was applied before sending it again.';
  return new GraphQLError(message, { extensions: { code: CODE, outcome } });
}

/** Returns the error of a list that has too many items. */
export const listError = (length: number | string, maxListItems: number): GraphQLError =>
  new GraphQLError(`The notification service sent a list of ${length} items; at most ${maxListItems} are accepted.`, {
    extensions: { code: 'UPSTREAM_BAD_RESPONSE' },
  });
