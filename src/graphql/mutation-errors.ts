import { isUpstreamError, type UpstreamError } from '../upstream/errors.ts';
import type { Builder } from './builder.ts';

/**
 * Failure that a client can act on: a member of the mutations' result unions. All other errors of resolvers become entries of `errors[]`
 * (see `errors.ts`).
 */
interface Failure {
  code: 'NOT_FOUND' | 'CONFLICT' | 'INVALID_INPUT' | 'UPSTREAM_FAILURE';
  message: string;
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

/** Converts an error to a failure, or returns undefined if it handles other errors. */
type Handler = (error: UpstreamError) => Failure | undefined;

/**
 * Returns the result of a mutation: the success, or the failure of the first handler that handles the write's error. Rejects with any other error.
 *
 * @example toMutationResult(createFeed(ctx.upstream, …), ({ body }) => ({ … }), asInvalidInput(), asConflict)
 */
export const toMutationResult = <Result, Success, Handlers extends readonly Handler[]>(
  write: Promise<Result>,
  toSuccess: (result: Result) => Success,
  ...handlers: Handlers
): Promise<Success | NonNullable<ReturnType<Handlers[number]>>> =>
  write.then(toSuccess, (error: unknown) => {
    if (isUpstreamError(error)) {
      for (const handle of handlers) {
        const failure = handle(error) as ReturnType<Handlers[number]>;
        if (failure !== undefined) {
          return failure;
        }
      }
    }
    throw error;
  });

/** Creates a handler of missing records (404 and 410). */
export const asNotFound =
  (resource: string, id: string) =>
  ({ code, message }: UpstreamError): NotFoundFailure | undefined =>
    code === 'NOT_FOUND' ? { __typename: 'NotFoundError', code, message, resource, id } : undefined;

const NOT_FOUND_MESSAGE = /\bnot (?:be )?f(?:ind|ound)\b|\bdoes(?: not|n't) exist\b|\bhas no\b/i;

/** Creates a handler of missing records that the service reports with 400, so that only the message says so. */
export const asNotFoundByMessage =
  (resource: string, id: string) =>
  ({ status, message }: UpstreamError): NotFoundFailure | undefined =>
    status === 400 && NOT_FOUND_MESSAGE.test(message)
      ? { __typename: 'NotFoundError', code: 'NOT_FOUND', message, resource, id }
      : undefined;

/** Handles conflicts (409, and 422 of the idempotency protocol). */
export const asConflict = ({ code, message, conflict }: UpstreamError): ConflictFailure | undefined =>
  // guard: test/graphql/error-model.test.ts
  code === 'CONFLICT' ? { __typename: 'ConflictError', code, message, reason: conflict } : undefined;

/**
 * Creates a handler of invalid input (400, 422, and ids rejected before the call).
 *
 * @param at path of the input in the arguments
 * @param inputNames name in the input of each path parameter that is named differently
 */
export const asInvalidInput =
  (at: readonly string[] = ['input'], inputNames: Readonly<Record<string, string>> = {}) =>
  ({ code, message, issues }: UpstreamError): InvalidInputFailure | undefined =>
    code === 'BAD_USER_INPUT'
      ? {
          __typename: 'InvalidInputError',
          code: 'INVALID_INPUT',
          message,
          issues: issues.map((issue) => ({
            ...issue,
            path: [...at, ...issue.path.map((name) => inputNames[name] ?? name)],
          })),
        }
      : undefined;

/** Handles all other failures of an item of a bulk mutation. A missing credential fails the whole mutation instead. */
export const asUpstreamFailure = (error: UpstreamError): BulkItemFailure | undefined =>
  error.code === 'UNAUTHENTICATED' && !error.sent
    ? undefined
    : {
        __typename: 'UpstreamFailure',
        code: 'UPSTREAM_FAILURE',
        message: error.message,
        status: error.status,
        retryable: error.retryable,
        retryAfterSeconds: error.retryAfterSeconds,
        outcome: error.outcome ?? 'UNKNOWN',
      };

/** Checks whether an error is a response of the service that rejects the input (400, 422). */
export const isRejectedInput = (error: unknown): boolean =>
  isUpstreamError(error) && error.code === 'BAD_USER_INPUT' && error.sent;
