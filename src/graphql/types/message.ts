import { type ChannelName, deleteMessagesByTransaction } from '../../upstream/endpoints/messages.ts';
import { requireScopes } from '../declarations.ts';
import { defineModule } from '../module.ts';
import { asInvalidInput, asNotFound, mutationErrors, toMutationResult } from '../mutations.ts';

/** Messages, which can be deleted. */
export const messages = defineModule('messages', ({ builder, use }) => {
  const { InvalidInputError, NotFoundError } = use(mutationErrors);

  const Channel = builder.enumType('Channel', {
    description: 'A channel over which the service sends messages.',
    values: {
      IN_APP: { value: 'in_app', description: "Messages in an app's feed." },
      EMAIL: { value: 'email', description: 'Emails.' },
      SMS: { value: 'sms', description: 'Text messages.' },
      CHAT: { value: 'chat', description: 'Messages in a chat service, such as Slack.' },
      PUSH: { value: 'push', description: 'Push notifications.' },
    } as const,
  });

  const DeleteMessagesByTransactionInput = builder.inputType('DeleteMessagesByTransactionInput', {
    description: 'The messages to delete.',
    fields: (t) => ({
      transactionId: t.id({
        required: true,
        description: 'The id of the transaction, which the service returned when the workflow was triggered.',
      }),
      channel: t.field({
        type: Channel,
        description: 'The channel to delete messages of. Default: all channels.',
      }),
    }),
  });

  const DeleteMessagesByTransactionSuccess = builder
    .objectRef<DeletedMessages>('DeleteMessagesByTransactionSuccess')
    .implement({
      description: 'The messages were deleted.',
      fields: (t) => ({
        transactionId: t.exposeID('transactionId', {
          description: 'The id of the transaction.',
        }),
        channel: t.expose('channel', {
          type: Channel,
          nullable: true,
          description: 'The channel whose messages were deleted. Null if they were deleted on all channels.',
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
        'Deletes the messages that one trigger of a workflow sent, on all channels or on one. If there are none, the result is a `NotFoundError`.\n\nREST: `DELETE /v1/messages/transaction/{transactionId}?channel=`.',
      args: {
        input: t.arg({
          type: DeleteMessagesByTransactionInput,
          required: true,
          description: 'The messages to delete.',
        }),
      },
      resolve: (_root, { input: { transactionId, channel } }, ctx) =>
        toMutationResult(
          deleteMessagesByTransaction(ctx.upstream, transactionId, channel ?? undefined),
          () => ({ __typename: 'DeleteMessagesByTransactionSuccess' as const, transactionId, channel }),
          asNotFound('Transaction', transactionId),
          asInvalidInput(),
        ),
    }),
  }));

  return { Channel };
});

/** Source of the result: the service responds without a body. */
interface DeletedMessages {
  __typename: 'DeleteMessagesByTransactionSuccess';
  transactionId: string;
  channel: ChannelName | null | undefined;
}
