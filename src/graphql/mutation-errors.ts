import { GraphQLError } from 'graphql';
import { addUnknownOutcome, afterUnknownOutcome, isUpstreamError, type UpstreamError } from '../upstream/errors.ts';
import type { Builder } from './builder.ts';

/**
 * Failure that a client can act on: a member of the mutations' result unions. All other errors of resolvers become entries of `errors[]`
 * (see `errors.ts`).
 */
interface Failure {
  code: 'NOT_FOUND' | 'CONFLICT' | 'INVALID_INPUT' | 'UPSTREAM_FAILURE';
  message: string;
  replayed: boolean;
}

interface NotFoundFailure extends Failure {
  __typename: 'NotFoundError';
  resource: string;
  id: string;
}

interface ConflictFailure extends Failure {
  __typename: 'ConflictError';
  reason: UpstreamError['conflict'];
}

interface InvalidInputFailure extends Failure {
  __typename: 'InvalidInputError';
  issues: UpstreamError['issues'];
}

interface BulkItemFailure extends Failure {
  __typename: 'UpstreamFailure';
  status: number | undefined;
  retryable: boolean;
  retryAfterSeconds: number | undefined;
  outcome: 'NOT_APPLIED' | 'UNKNOWN';
}

/** Types of failures in a schema. */
export type MutationErrors = ReturnType<typeof defineMutationErrors>;

/** Defines the types of failures, for the result unions of mutations. */
export function defineMutationErrors(builder: Builder) {
  const MutationErrorCode = builder.enumType('MutationErrorCode', {
    description: 'The kind of failure of a mutation. Each kind has its own type, which implements `MutationError`.',
    values: {
      NOT_FOUND: { description: '`NotFoundError`: the record does not exist.' },
      CONFLICT: { description: '`ConflictError`: the change conflicts with an existing record or an earlier request.' },
      INVALID_INPUT: { description: '`InvalidInputError`: the input is invalid.' },
      UPSTREAM_FAILURE: { description: '`UpstreamFailure`: the service failed on this item of a bulk mutation.' },
    } as const,
  });

  const ConflictReason = builder.enumType('ConflictReason', {
    description: 'The reason for a conflict.',
    values: {
      ALREADY_EXISTS: { description: 'A record with this name already exists.' },
      IDEMPOTENCY_IN_PROGRESS: {
        description:
          'The first request with this idempotency key is still in progress. Retry with the same key after a second.',
      },
      IDEMPOTENCY_KEY_REUSED: { description: 'This idempotency key was already used with a different input.' },
      OTHER: { description: 'Another reason, which `message` explains.' },
    } as const,
  });

  const WriteOutcome = builder.enumType('WriteOutcome', {
    description: 'Whether a failed write was applied.',
    values: {
      NOT_APPLIED: { description: 'The write was not applied. It is safe to retry.' },
      UNKNOWN: {
        description: 'The write may have been applied. Check before you retry, or retry with the same idempotency key.',
      },
    } as const,
  });

  const MutationError = builder.interfaceRef<Failure>('MutationError').implement({
    description:
      'A failure of a mutation that your app can act on. `... on MutationError { code message }` matches every such failure, including types added in the future.',
    fields: (t) => ({
      code: t.expose('code', {
        type: MutationErrorCode,
        description: 'The kind of failure. Match on it, not on `message`.',
      }),
      message: t.exposeString('message', {
        description: "An explanation for people: the service's own message, if it sent one.",
      }),
      replayed: t.exposeBoolean('replayed', {
        description:
          'Whether this is the stored failure of an earlier request with the same idempotency key. Only a request with a new key can succeed.',
      }),
    }),
  });

  const NotFoundError = builder.objectRef<NotFoundFailure>('NotFoundError').implement({
    description: 'The service has no record with this id. Nothing was changed.',
    interfaces: [MutationError],
    fields: (t) => ({
      resource: t.exposeString('resource', {
        description: 'The type of the missing record, such as `NotificationGroup`.',
      }),
      requestedId: t.exposeID('id', { description: 'The id that was requested.' }),
    }),
  });

  const ConflictError = builder.objectRef<ConflictFailure>('ConflictError').implement({
    description:
      'The input is valid, but conflicts with an existing record or an earlier request. This request changed nothing.',
    interfaces: [MutationError],
    fields: (t) => ({
      reason: t.expose('reason', { type: ConflictReason, description: 'The reason for the conflict.' }),
    }),
  });

  const InputIssue = builder.objectRef<UpstreamError['issues'][number]>('InputIssue').implement({
    description: 'One problem with the input.',
    fields: (t) => ({
      path: t.exposeStringList('path', {
        description:
          'The path of the value in the arguments, such as `["input", "name"]` or `["input", "subscribers", "3", "email"]`. Only `["input"]` if the service named no field.',
      }),
      message: t.exposeString('message', { description: 'An explanation of the problem for people.' }),
    }),
  });

  const InvalidInputError = builder.objectRef<InvalidInputFailure>('InvalidInputError').implement({
    description: 'The input is invalid. Nothing was changed.',
    interfaces: [MutationError],
    fields: (t) => ({
      issues: t.expose('issues', {
        type: [InputIssue],
        description: 'The problems, one entry each. Show them next to the fields of a form.',
      }),
    }),
  });

  const UpstreamFailure = builder.objectRef<BulkItemFailure>('UpstreamFailure').implement({
    description: 'The service failed on one item of a bulk mutation. Other mutations report such failures in `errors`.',
    interfaces: [MutationError],
    fields: (t) => ({
      status: t.exposeInt('status', {
        nullable: true,
        description: 'The HTTP status with which the service responded. Null if it did not respond.',
      }),
      retryable: t.exposeBoolean('retryable', { description: 'Whether a retry of this item is safe and can succeed.' }),
      retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
        nullable: true,
        description: 'The number of seconds to wait before a retry. Null if the service sent none.',
      }),
      outcome: t.expose('outcome', { type: WriteOutcome, description: 'Whether the write was applied.' }),
    }),
  });

  return { NotFoundError, ConflictError, InvalidInputError, UpstreamFailure };
}

/** Failures that a mutation returns in its result. */
export interface ReturnedFailures {
  /** Record that the service may not have. @default reported in `errors` */
  notFound?: { resource: string; id: string; byMessage?: boolean | undefined } | undefined;
  /** Whether conflicts are returned. Otherwise, they are reported in `errors`. */
  canConflict: boolean;
  /** Returns the path in the input of a value in the request. */
  toInputPath: (path: readonly string[]) => readonly string[];
  /** Path of the input in the arguments. */
  path: readonly string[];
  /** Whether the input is an item of a bulk mutation, which returns all failures. */
  isBulkItem: boolean;
  /** Whether a write was applied, or may have been. Then no failure says that nothing was changed. */
  hasWritten: boolean;
}

/** Returns the failure that is the result of a mutation; undefined if the error is reported in `errors`. */
export function toFailure(
  error: UpstreamError,
  returned: ReturnedFailures,
): NotFoundFailure | InvalidInputFailure | ConflictFailure | BulkItemFailure | undefined {
  const { notFound, canConflict, path, toInputPath, isBulkItem, hasWritten } = returned;
  if (hasWritten) {
    return isBulkItem ? toItemFailure(afterUnknownOutcome(error)) : undefined;
  }
  const { code, message, isReplayed: replayed } = error;
  const isAbsent = code === 'NOT_FOUND' || (notFound?.byMessage === true && saysNotFound(error, notFound));
  if (notFound !== undefined && isAbsent) {
    const { resource, id } = notFound;
    return { __typename: 'NotFoundError', code: 'NOT_FOUND', message, replayed, resource, id };
  }
  // 400, 422, and ids that are rejected before the call.
  if (code === 'BAD_USER_INPUT') {
    const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...toInputPath(issue.path)] }));
    return { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message, replayed, issues };
  }
  // 409, and 422 of the idempotency protocol.
  const isReturnedConflict = code === 'CONFLICT' && canConflict;
  if (isReturnedConflict) {
    return { __typename: 'ConflictError', code, message, replayed, reason: error.conflict };
  }
  const isAnonymous = code === 'UNAUTHENTICATED' && !error.sent; // Fails the whole mutation.
  return isBulkItem && !isAnonymous ? toItemFailure(error) : undefined;
}

/** Whether the service reports with 400 that the record is missing, so that only the message says so. It can also miss others, such as one that uses it. */
function saysNotFound({ status, message }: UpstreamError, { resource, id }: { resource: string; id: string }): boolean {
  const words = message.split(/\s+/).filter((word) => word.replace(/^\W+|\W+$/g, '') !== id);
  const noun = resource.replace(/\B[A-Z]/g, ' ?$&');
  const forms = [
    `not find (?:(?:the|an?|any) )?${noun}\\b`,
    `no (?:such ${noun}\\b|${noun} (?:with|named|exists)\\b)`,
    `${noun}(?:\\W+(?:with|the|id|identifier|named?|was|is|could|can))*\\W+(?:not (?:be )?found|does(?: not|n't) exist)\\b`,
  ];
  return status === 400 && new RegExp(`\\b(?:${forms.join('|')})`, 'i').test(words.join(' '));
}

const toItemFailure = (error: UpstreamError): BulkItemFailure => ({
  __typename: 'UpstreamFailure',
  code: 'UPSTREAM_FAILURE',
  message: error.message,
  replayed: error.isReplayed,
  status: error.status,
  retryable: error.retryable,
  retryAfterSeconds: error.retryAfterSeconds,
  outcome: error.outcome ?? 'UNKNOWN',
});

/** Returns the error of a field after a write that was applied, or may have been. Other errors than these are masked, with the same outcome. */
export function afterWrite(error: unknown): unknown {
  if (error instanceof GraphQLError) {
    const extensions = { ...error.extensions, retryable: false, outcome: 'UNKNOWN' };
    return new GraphQLError(addUnknownOutcome(error.message), { originalError: error, extensions });
  }
  return isUpstreamError(error) ? afterUnknownOutcome(error) : error;
}

/** Checks whether an error is a response of the service that rejects the input (400, 422). */
export const isRejectedInput = (error: unknown): boolean =>
  isUpstreamError(error) && error.code === 'BAD_USER_INPUT' && error.sent;
