// Types of the failures that mutations return.

import type { InputIssue as Issue } from '../../upstream/errors.ts';
import type { Builder } from './builder.ts';
import { SHAREABLE } from './federation.ts';
import type { Failure } from './mutation-failures.ts';

export type MutationErrors = ReturnType<typeof defineMutationErrors>;

type FailureOf<Name extends Failure['__typename']> = Extract<Failure, { __typename: Name }>;

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
          'No longer sent. If the first request with a key is in progress, `errors` has UPSTREAM_UNAVAILABLE.',
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

  const NotFoundError = builder.objectRef<FailureOf<'NotFoundError'>>('NotFoundError').implement({
    extensions: SHAREABLE,
    description: 'The service has no record with this id. Nothing was changed.',
    interfaces: [MutationError],
    fields: (t) => ({
      resource: t.exposeString('resource', {
        description: 'The type of the missing record, such as `NotificationGroup`.',
      }),
      requestedId: t.exposeID('id', { description: 'The id that was requested.' }),
    }),
  });

  const ConflictError = builder.objectRef<FailureOf<'ConflictError'>>('ConflictError').implement({
    extensions: SHAREABLE,
    description:
      'The input is valid, but conflicts with an existing record or an earlier request. This request changed nothing.',
    interfaces: [MutationError],
    fields: (t) => ({
      reason: t.expose('reason', { type: ConflictReason, description: 'The reason for the conflict.' }),
    }),
  });

  const InputIssue = builder.objectRef<Issue>('InputIssue').implement({
    extensions: SHAREABLE,
    description: 'One problem with the input.',
    fields: (t) => ({
      path: t.exposeStringList('path', {
        description:
          'The path of the value in the arguments, such as `["input", "name"]` or `["input", "subscribers", "3", "email"]`. Only `["input"]` if the service named no field.',
      }),
      message: t.exposeString('message', { description: 'An explanation of the problem for people.' }),
    }),
  });

  const InvalidInputError = builder.objectRef<FailureOf<'InvalidInputError'>>('InvalidInputError').implement({
    extensions: SHAREABLE,
    description: 'The input is invalid. Nothing was changed.',
    interfaces: [MutationError],
    fields: (t) => ({
      issues: t.expose('issues', {
        type: [InputIssue],
        description: 'The problems, one entry each. Show them next to the fields of a form.',
      }),
    }),
  });

  const UpstreamFailure = builder.objectRef<FailureOf<'UpstreamFailure'>>('UpstreamFailure').implement({
    extensions: SHAREABLE,
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
