import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type ChannelName = components['schemas']['Channel'];

/** All messages of the transaction, or those of one channel. The success has no body; one that comes is ignored. */
export const deleteMessagesByTransaction = (client: UpstreamClient, transactionId: string, channel?: ChannelName) =>
  client.write<undefined>({
    method: 'DELETE',
    route: '/v1/messages/transaction/{transactionId}',
    params: { transactionId },
    query: { channel },
    expect: 'nothing',
  });
