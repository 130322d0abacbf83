import type { ChannelName } from '../../upstream/resources/messages.ts';
import { builder } from '../builder.ts';
import { asInvalidInput, asNotFound, InvalidInputError, NotFoundError, toMutationResult } from '../errors.ts';
import { requireScopes } from '../require-scopes.ts';

export const Channel = builder.enumType('Channel', {
  description: 'How a message reaches its recipient.',
  values: {
    IN_APP: { value: 'in_app', description: 'Inside the app. On the wire: in_app.' },
    EMAIL: { value: 'email', description: 'By e-mail. On the wire: email.' },
    SMS: { value: 'sms', description: 'By text message. On the wire: sms.' },
    CHAT: { value: 'chat', description: 'In a chat service. On the wire: chat.' },
    PUSH: { value: 'push', description: 'As a push notification. On the wire: push.' },
  } as const,
});

const DeleteMessagesByTransactionInput = builder.inputType('DeleteMessagesByTransactionInput', {
  description: 'Which messages to delete.',
  fields: (t) => ({
    transactionId: t.id({ required: true, description: 'The transaction that the messages were sent in.' }),
    channel: t.field({
      type: Channel,
      description: 'Only the messages of this channel. Default: those of every channel.',
    }),
  }),
});

interface DeletedMessages {
  __typename: 'DeleteMessagesByTransactionSuccess';
  transactionId: string;
  channel: ChannelName | null | undefined;
}

const DeleteMessagesByTransactionSuccess = builder
  .objectRef<DeletedMessages>('DeleteMessagesByTransactionSuccess')
  .implement({
    description: 'The messages are deleted.',
    fields: (t) => ({
      transactionId: t.exposeID('transactionId', { description: 'The transaction whose messages are deleted.' }),
      channel: t.expose('channel', {
        type: Channel,
        nullable: true,
        description: 'The channel that the deletion was restricted to; null: every channel.',
      }),
    }),
  });

const DeleteMessagesByTransactionResult = builder.unionType('DeleteMessagesByTransactionResult', {
  description: 'What became of deleteMessagesByTransaction.',
  types: [DeleteMessagesByTransactionSuccess, NotFoundError, InvalidInputError],
});

builder.mutationFields((t) => ({
  deleteMessagesByTransaction: t.field({
    type: DeleteMessagesByTransactionResult,
    nullable: true,
    extensions: requireScopes('messages:write'),
    description: 'Deletes the messages of a transaction. DELETE /v1/messages/transaction/{transactionId}?channel=',
    args: {
      input: t.arg({
        type: DeleteMessagesByTransactionInput,
        required: true,
        description: 'Which messages to delete.',
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
