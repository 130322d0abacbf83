import { GraphQLError } from 'graphql';
import { defaultSettings } from '../../settings/parse-settings.ts';
import type { Settings } from '../../settings/settings.ts';

/** Bounds on one operation's variables and result. */
export interface Limits
  extends Pick<
    Settings,
    | 'maxErrors'
    | 'maxResultValues'
    | 'maxResponseBytes'
    | 'maxUpstreamListItems'
    | 'maxInputListItems'
    | 'introspection'
  > {
  /** Values to complete before the event loop gets a turn: about 5 ms of work. @default 10_000 */
  readonly valuesPerTurn: number;
}

/** Returns limits with defaults for those that are left out. */
export function withDefaults(given: Partial<Limits>): Limits {
  const { maxErrors, maxResultValues, maxResponseBytes, ...others } = { ...defaultSettings(), ...given };
  const { maxUpstreamListItems, maxInputListItems, introspection } = others;
  const { valuesPerTurn = 10_000 } = given;
  // An object of these properties only: the executor reads them for every value.
  return {
    maxErrors,
    maxResultValues,
    maxResponseBytes,
    maxUpstreamListItems,
    maxInputListItems,
    introspection,
    valuesPerTurn,
  };
}

/** The limits that stop an execution. */
export type StopReason = 'maxErrors' | 'maxValues' | 'maxResponseBytes';

const CODE = 'RESULT_LIMIT_EXCEEDED';

/** Thrown in place of a value once execution has stopped. Never becomes an error of the result. */
export const STOPPED = Symbol('execution stopped');

/** Returns the error without a path that explains why fields of the result are null. */
export function stopError(reason: StopReason, limits: Limits): GraphQLError {
  const limit = {
    maxErrors: `more than ${limits.maxErrors} errors`,
    maxValues: `more than ${limits.maxResultValues} values`,
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
