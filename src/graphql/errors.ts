import { GraphQLError } from 'graphql';
import { isUpstreamError, type UpstreamError } from '../upstream/errors/errors.ts';
import { builder } from './builder.ts';

/**
 * The failures a client can act on: members of the mutations' result unions. Everything else a resolver throws goes untouched to
 * the error plugin, which makes it an entry of `errors[]`.
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

const MutationErrorCode = builder.enumType('MutationErrorCode', {
  description: "The kind of a mutation's failure. Each belongs to one type that implements MutationError.",
  values: {
    NOT_FOUND: { description: 'NotFoundError: there is no such record.' },
    CONFLICT: { description: 'ConflictError: the record, or an earlier request, stands against it.' },
    INVALID_INPUT: { description: 'InvalidInputError: the input was refused.' },
    UPSTREAM_FAILURE: { description: 'UpstreamFailure: the service failed on this item of a bulk mutation.' },
  } as const,
});

const ConflictReason = builder.enumType('ConflictReason', {
  description: 'Why a mutation conflicts.',
  values: {
    ALREADY_EXISTS: { description: 'A record with this name exists already.' },
    IDEMPOTENCY_IN_PROGRESS: {
      description: 'The first request with this idempotency key still runs: ask again in a second.',
    },
    IDEMPOTENCY_KEY_REUSED: { description: 'This idempotency key was used before, with another input.' },
    OTHER: { description: 'The service gave another reason; see the message.' },
  } as const,
});

const WriteOutcome = builder.enumType('WriteOutcome', {
  description: 'What became of a write that failed.',
  values: {
    NOT_APPLIED: { description: 'It was not carried out: safe to send again.' },
    UNKNOWN: { description: 'The service may have carried it out: check before sending it again.' },
  } as const,
});

const MutationError = builder.interfaceRef<Failure>('MutationError').implement({
  description:
    'What every failure of a mutation has in common: `... on MutationError { code message }` catches all of them.',
  fields: (t) => ({
    code: t.expose('code', { type: MutationErrorCode, description: 'The kind of failure.' }),
    message: t.exposeString('message', {
      description: "One sentence for a person; the service's own where it gave one.",
    }),
  }),
});

export const NotFoundError = builder.objectRef<NotFoundFailure>('NotFoundError').implement({
  description: 'The service has no record with this id.',
  interfaces: [MutationError],
  fields: (t) => ({
    resource: t.exposeString('resource', { description: 'What was looked for, such as NotificationGroup.' }),
    id: t.exposeID('id', { description: 'The id that was asked for.' }),
  }),
});

export const ConflictError = builder.objectRef<ConflictFailure>('ConflictError').implement({
  description: 'The input is fine, but something that exists already stands against it.',
  interfaces: [MutationError],
  fields: (t) => ({
    reason: t.expose('reason', { type: ConflictReason, description: 'What stands against it.' }),
  }),
});

const InputIssue = builder.objectRef<UpstreamError['issues'][number]>('InputIssue').implement({
  description: 'One thing that is wrong with the input.',
  fields: (t) => ({
    path: t.exposeStringList('path', {
      description:
        'Where in the arguments it is: input, then the field; only input when the service did not say which field.',
    }),
    message: t.exposeString('message', { description: 'What is wrong, in one sentence.' }),
  }),
});

export const InvalidInputError = builder.objectRef<InvalidInputFailure>('InvalidInputError').implement({
  description: 'The input was refused; nothing was carried out.',
  interfaces: [MutationError],
  fields: (t) => ({
    issues: t.expose('issues', { type: [InputIssue], description: 'What is wrong, one entry a problem.' }),
  }),
});

export const UpstreamFailure = builder.objectRef<BulkItemFailure>('UpstreamFailure').implement({
  description: 'The service failed on one item of a bulk mutation. A single mutation reports this in errors[].',
  interfaces: [MutationError],
  fields: (t) => ({
    status: t.exposeInt('status', { nullable: true, description: 'The HTTP status; null when no answer came.' }),
    retryable: t.exposeBoolean('retryable', { description: 'Whether sending this item again can help and is safe.' }),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      nullable: true,
      description: 'How long to wait before sending it again, where the service said so.',
    }),
    outcome: t.expose('outcome', { type: WriteOutcome, description: 'What became of the write.' }),
  }),
});

type Handler = (error: UpstreamError) => Failure | undefined;

/**
 * Runs a write. A failure that one of the handlers takes becomes data of the result union; every other one is thrown on.
 *
 * @example settle(() => createFeed(…), asInvalidInput(), asConflict)
 */
export async function toMutationResult<Success, Handlers extends readonly Handler[]>(
  write: () => Promise<Success>,
  ...handlers: Handlers
): Promise<Success | NonNullable<ReturnType<Handlers[number]>>> {
  try {
    return await write();
  } catch (error) {
    if (isUpstreamError(error)) {
      for (const handle of handlers) {
        const failure = handle(error) as ReturnType<Handlers[number]>;
        if (failure !== undefined) {
          return failure;
        }
      }
    }
    throw error;
  }
}

/** 404 and 410. */
export const asNotFound =
  (resource: string, id: string) =>
  ({ code, message }: UpstreamError): NotFoundFailure | undefined =>
    code === 'NOT_FOUND' ? { __typename: 'NotFoundError', code, message, resource, id } : undefined;

/** 409, and 422 of the idempotency protocol. */
export const asConflict = ({ code, message, conflict }: UpstreamError): ConflictFailure | undefined =>
  code === 'CONFLICT' ? { __typename: 'ConflictError', code, message, reason: conflict } : undefined;

/**
 * 400, 422, and an id that was refused before the call.
 *
 * @param at where the input is in the arguments
 * @param inputNames the input's name of a path parameter, where it has another
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

/** Every other failure, for items of a bulk mutation. A missing credential fails the whole mutation instead. */
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

/** Whether the service, asked, refused the input (400, 422). */
export const isRejectedInput = (error: unknown): boolean =>
  isUpstreamError(error) && error.code === 'BAD_USER_INPUT' && error.sent;

/** An argument that the gateway itself refuses, before any call. */
export const badUserInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

/** The value, or UPSTREAM_BAD_RESPONSE where the service did not send what is due and GraphQL's own checks would not see it. */
export function requireValue<T>(value: T | null | undefined): T {
  if (value == null) {
    throw new GraphQLError('The notification service did not send what is due here.', {
      extensions: { code: 'UPSTREAM_BAD_RESPONSE' },
    });
  }
  return value;
}

/** Throws BAD_USER_INPUT unless `min <= value <= max`. */
export function assertRange(name: string, value: number, min: number, max: number): void {
  if (value < min || value > max) {
    throw badUserInput(`${name} must be from ${min} to ${max}; it is ${value}.`);
  }
}
