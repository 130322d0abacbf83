// Defines the limits of results, and the errors for exceeding them.

import { GraphQLError } from 'graphql';

export interface Limits extends Readonly<Record<keyof typeof FIXED_LIMITS, number>> {
  readonly maxResponseBytes: number;
  /** Whether messages leave out suggestions, which reveal names of the schema. */
  readonly hideSuggestions: boolean;
}

/** Limits that no setting changes. */
export const FIXED_LIMITS = {
  /** Errors of a result. Clients read the first few; validation of graphql-js stops at the same number. */
  maxErrors: 100,
  /** Values of a result: every field and every list item is one. They take about 0.1 s of CPU time. */
  maxResultValues: 250_000,
  /** Items of a list that a resolver returns, as in responses of the service. */
  maxListItems: 10_000,
  /** Items of a list in a variable, ten times what a bulk mutation accepts. */
  maxInputListItems: 1_000,
  /** Values to complete before yielding to the event loop, about 5 ms of work. */
  valuesPerTurn: 10_000,
} as const;

export type StopReason = 'maxErrors' | 'maxResultValues' | 'maxResponseBytes';

const CODE = 'RESULT_LIMIT_EXCEEDED';

/** Thrown instead of returning a value when execution has stopped. Never becomes an error of the result. */
export const STOPPED = Symbol('execution stopped');

/** Creates the error, without a path, that explains why fields of the result are null. */
export function stopError(reason: StopReason, limits: Limits): GraphQLError {
  const unit = { maxErrors: 'errors', maxResultValues: 'values', maxResponseBytes: 'bytes' }[reason];
  return new GraphQLError(
    `The result has more than ${limits[reason]} ${unit}; execution stopped and the remaining fields are null. Request fewer fields or records.`,
    { extensions: { code: CODE } },
  );
}

/** Creates the error of incomplete values after a timeout or a disconnect. A mutation may have been applied. */
export function earlyEnd(isMutation: boolean): GraphQLError {
  const [more, outcome] = isMutation
    ? [' The change may have been applied. Check before sending it again.', { outcome: 'UNKNOWN' }]
    : ['', {}];
  return new GraphQLError(`The operation timed out.${more}`, {
    extensions: { code: 'UPSTREAM_TIMEOUT', retryable: !isMutation, ...outcome },
  });
}

/**
 * Creates the error of a mutation whose result is missing because of a limit, or that was not executed because execution had ended early.
 *
 * @param endError error of what was not complete then
 */
export function outcomeError(outcome: 'NOT_APPLIED' | 'UNKNOWN', endError?: GraphQLError): GraphQLError {
  if (endError !== undefined) {
    const extensions = { ...endError.extensions, retryable: true, outcome };
    return new GraphQLError('This mutation was not executed: the operation ended before it.', { extensions });
  }
  const message =
    outcome === 'NOT_APPLIED'
      ? 'This mutation was not executed: an earlier one exceeded a limit on the result. Send it again on its own.'
      : 'This mutation was executed, but its result exceeds a limit. Check whether it was applied before sending it again.';
  return new GraphQLError(message, { extensions: { code: CODE, outcome } });
}

export const listError = (length: number | string, maxListItems: number): GraphQLError =>
  new GraphQLError(`The notification service sent a list of ${length} items; at most ${maxListItems} are accepted.`, {
    extensions: { code: 'UPSTREAM_BAD_RESPONSE' },
  });
