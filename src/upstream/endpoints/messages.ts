import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Name of a channel in the contract. */
export type ChannelName = components['schemas']['Channel'];

/** Deletes all messages of a transaction, or those of one channel. A successful response has no body; if one is sent, it is ignored. */
export const deleteMessagesByTransaction = (client: UpstreamClient, transactionId: string, channel?: ChannelName) =>
  client.write<undefined>({
    method: 'DELETE',
    route: '/v1/messages/transaction/{transactionId}',
    params: { transactionId },
    query: { channel },
    expect: 'nothing',
  });
