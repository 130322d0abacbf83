import type { ChannelName } from '../../upstream/resources/messages.ts';
import { builder } from '../builder.ts';
import { asInvalidInput, asNotFound, InvalidInputError, NotFoundError, toMutationResult } from '../errors.ts';
import { requireScopes } from '../require-scopes.ts';

export const Channel = builder.enumType('Channel', {
  description: 'A channel over which messages are sent.',
  values: {
    IN_APP: { value: 'in_app', description: 'In-app message (`in_app` in REST).' },
    EMAIL: { value: 'email', description: 'Email (`email` in REST).' },
    SMS: { value: 'sms', description: 'Text message (`sms` in REST).' },
    CHAT: { value: 'chat', description: 'Message in a chat service (`chat` in REST).' },
    PUSH: { value: 'push', description: 'Push notification (`push` in REST).' },
  } as const,
});

const DeleteMessagesByTransactionInput = builder.inputType('DeleteMessagesByTransactionInput', {
  description: 'The messages to delete.',
  fields: (t) => ({
    transactionId: t.id({ required: true, description: 'The id of the transaction whose messages are deleted.' }),
    channel: t.field({
      type: Channel,
      description: 'The channel whose messages are deleted. Default: all channels.',
    }),
  }),
});

/** Source of the result: the service responds without a body. */
interface DeletedMessages {
  __typename: 'DeleteMessagesByTransactionSuccess';
  transactionId: string;
  channel: ChannelName | null | undefined;
}

const DeleteMessagesByTransactionSuccess = builder
  .objectRef<DeletedMessages>('DeleteMessagesByTransactionSuccess')
  .implement({
    description: 'The messages were deleted.',
    fields: (t) => ({
      transactionId: t.exposeID('transactionId', {
        description: 'The id of the transaction whose messages were deleted.',
      }),
      channel: t.expose('channel', {
        type: Channel,
        nullable: true,
        description: 'The channel whose messages were deleted, or null for all channels.',
      }),
    }),
  });

const DeleteMessagesByTransactionResult = builder.unionType('DeleteMessagesByTransactionResult', {
  description: 'The result of `deleteMessagesByTransaction`.',
  types: [DeleteMessagesByTransactionSuccess, NotFoundError, InvalidInputError],
});

builder.mutationFields((t) => ({
  deleteMessagesByTransaction: t.field({
    type: DeleteMessagesByTransactionResult,
    nullable: true,
    extensions: requireScopes('messages:write'),
    description:
      'Deletes the messages of a transaction, all of them or those of one channel. DELETE /v1/messages/transaction/{transactionId}?channel=',
    args: {
      input: t.arg({
        type: DeleteMessagesByTransactionInput,
        required: true,
        description: 'The messages to delete.',
      }),
    },
    resolve: (_root, { input: { transactionId, channel } }, ctx) =>
      toMutationResult(
        async () => {
          await ctx.upstream.deleteMessagesByTransaction(transactionId, channel ?? undefined);
          return { __typename: 'DeleteMessagesByTransactionSuccess' as const, transactionId, channel };
        },
        asNotFound('Transaction', transactionId),
        asInvalidInput(),
      ),
  }),
}));
