// Adds channels, and the mutation that deletes the messages of a transaction.

import { deleteMessagesByTransaction } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';

export const messages = defineModule('messages', ({ builder, mutation }) => {
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

  mutation('deleteMessagesByTransaction', {
    description:
      'Deletes the messages that one trigger of a workflow sent, on all channels or on one. If there are none, the result is a `NotFoundError`.\n\nREST: `DELETE /v1/messages/transaction/{transactionId}?channel=`.',
    scope: 'messages:write',
    endpoint: deleteMessagesByTransaction,
    input: {
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
    },
    failures: { notFound: { resource: 'Transaction', id: ({ transactionId }) => transactionId } },
    // The service responds without a body.
    resolve: async ({ transactionId, channel }, send) => {
      await send({ transactionId, query: { channel } });
      return { transactionId, channel };
    },
    success: {
      description: 'The messages were deleted.',
      fields: (t) => ({
        transactionId: t.exposeID('transactionId', { description: 'The id of the transaction.' }),
        channel: t.expose('channel', {
          type: Channel,
          nullable: true,
          description: 'The channel whose messages were deleted. Null if they were deleted on all channels.',
        }),
      }),
    },
  });

  return { Channel };
});
