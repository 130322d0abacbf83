// Failures of mutations: those that they return as data, and the errors of their fields after a write.

import { GraphQLError } from 'graphql';
import { isGraphQLError } from '../../errors/located-error.ts';
import { InvalidCall } from '../../upstream/endpoint.ts';
import {
  addUnknownOutcome,
  afterUnknownOutcome,
  type ConflictReason,
  type InputIssue,
  isUpstreamError,
  saysNotFound,
  type UpstreamError,
  type WriteOutcome,
} from '../../upstream/errors.ts';

/**
 * Failure that a client can act on: a member of the mutations' result unions. All other errors of resolvers become entries of `errors[]`
 * (see `client-errors.ts`).
 */
export type Failure = { message: string; replayed: boolean } & (
  | { __typename: 'NotFoundError'; code: 'NOT_FOUND'; resource: string; id: string }
  | { __typename: 'ConflictError'; code: 'CONFLICT'; reason: ConflictReason }
  | { __typename: 'InvalidInputError'; code: 'INVALID_INPUT'; issues: InputIssue[] }
  | {
      __typename: 'UpstreamFailure';
      code: 'UPSTREAM_FAILURE';
      status: number | undefined;
      retryable: boolean;
      retryAfterSeconds: number | undefined;
      outcome: WriteOutcome;
    }
);

interface ReturnedFailures {
  /** Record that the service may not have. @default reported in `errors` */
  notFound?: { resource: string; id: string; byMessage?: boolean | undefined; hidesOwner?: boolean } | undefined;
  /**
   * Id of the subscriber whose records the mutation is for. Then the service's message is not returned, as it can tell which records other people have.
   *
   * @default those of nobody in particular
   */
  subject?: string | undefined;
  /** Whether conflicts are returned. Otherwise, they are reported in `errors`. */
  canConflict: boolean;
  toInputPath: (path: readonly string[]) => readonly string[];
  path: readonly string[];
  /** Whether the input is an item of a bulk mutation, which returns all failures. */
  isBulkItem: boolean;
  /** Whether a write was applied, or may have been. Then no failure says that nothing was changed. */
  hasWritten: boolean;
}

/** Returns the failure that is the result of a mutation; undefined if the error is reported in `errors`. */
export function toFailure(error: UpstreamError, returned: ReturnedFailures): Failure | undefined {
  const { notFound, subject, canConflict, path, toInputPath, isBulkItem, hasWritten } = returned;
  if (hasWritten) {
    return isBulkItem ? toItemFailure(afterUnknownOutcome(error)) : undefined;
  }
  const { code, message, isReplayed: replayed } = error;
  const owner = { resource: 'Subscriber', id: subject ?? '' };
  const isOwnerAbsent = subject !== undefined && saysNotFound(error, owner, [400, 404]);
  const isAbsent =
    code === 'NOT_FOUND' || isOwnerAbsent || (notFound?.byMessage === true && saysNotFound(error, notFound));
  if (notFound !== undefined && isAbsent) {
    const { resource, id } = isOwnerAbsent && !notFound.hidesOwner ? owner : notFound;
    const shown = subject !== undefined ? `${resource} "${id}" was not found.` : message;
    return { __typename: 'NotFoundError', code: 'NOT_FOUND', message: shown, replayed, resource, id };
  }
  // 400, 422, and ids that are rejected before the call.
  if (code === 'BAD_USER_INPUT') {
    const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...toInputPath(issue.path)] }));
    return { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message, replayed, issues };
  }
  // 409, and 422 of the idempotency protocol.
  if (code === 'CONFLICT' && canConflict) {
    return { __typename: 'ConflictError', code, message, replayed, reason: error.conflict };
  }
  return isBulkItem ? toItemFailure(error) : undefined;
}

function toItemFailure(error: UpstreamError): Failure {
  const { message, isReplayed: replayed, status, retryable, retryAfterSeconds, outcome = 'UNKNOWN' } = error;
  const kind = { __typename: 'UpstreamFailure', code: 'UPSTREAM_FAILURE' } as const;
  return { ...kind, message, replayed, status, retryable, retryAfterSeconds, outcome };
}

/** Returns the error of a field after a write that was applied, or may have been. Other errors than these are masked, with the same outcome. */
export function afterWrite(error: unknown): unknown {
  if (isGraphQLError(error)) {
    const extensions = { ...error.extensions, retryable: false, outcome: 'UNKNOWN' };
    return new GraphQLError(addUnknownOutcome(error.message), { originalError: error, extensions });
  }
  if (error instanceof InvalidCall) {
    return new TypeError(error.message, { cause: error });
  }
  return isUpstreamError(error) ? afterUnknownOutcome(error) : error;
}
