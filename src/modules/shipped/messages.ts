// Adds the list of sent messages, the deletion of one, and the list of feeds; the built-in schema only deletes the messages of a transaction.

import { badResponse } from '../../graphql/values.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { FeedBody, MessageBody } from '../../upstream/endpoints.ts';
import { defineShipped } from '../module.ts';
import { mergePages } from '../types/composed-pages.ts';
import { feeds } from '../types/feed.ts';
import { MASKED, visibleJson } from '../types/masking.ts';
import { declareMessageEndpoints, messages, sentMessages } from '../types/message.ts';
import { assertPage, definePage, pageArg, sizeArg, withHasMore } from '../types/pages.ts';
import { extraField, optional, shows } from '../types/record-fields.ts';

/** Maximum messages of one page, and transactions to select them by. */
const MAX = 100;

/** Asserts that the service used its filter: versions of 2023 ignore the id of a subscriber that they don't know, and transactions. */
function assertSelected(
  rows: readonly MessageBody[],
  subscriberId: string | null | undefined,
  transactionIds?: readonly string[],
): void {
  const isOther = ({ subscriber, transactionId }: Partial<MessageBody>) => {
    const recipient = subscriber?.subscriberId ?? subscriberId;
    const isOtherTransaction = transactionId !== undefined && transactionIds?.includes(transactionId) === false;
    return (subscriberId ?? recipient) !== recipient || isOtherTransaction;
  };
  if (rows.some((row) => isRecord(row) && isOther(row))) {
    throw badResponse('sent messages that were not asked for');
  }
}

export default defineShipped('notigraph/modules/messages', (toolkit) => {
  const { assertRange, builder, declareCalls, endpoint, mutation, requireScopes, use } = toolkit;
  const { Feed } = use(feeds);
  const { Channel } = use(messages);
  const { messageFields } = use(sentMessages);
  const { listMessages, removeMessage } = declareMessageEndpoints(toolkit);

  const listFeeds = endpoint('GET /v1/feeds', { expect: 'list', identifiedBy: ['_id', 'identifier'] }).returns<
    FeedBody[]
  >();

  const Message = builder.objectRef<MessageBody>('Message').implement({
    description: 'A message that the service sent to a subscriber over one channel, or failed to send.',
    extensions: requireScopes('messages:read'),
    fields: (t) => ({
      ...messageFields(t),
      channel: t.expose('channel', { type: Channel, ...optional('The channel over which it was sent.') }),
      status: t.exposeString('status', optional('Whether it was sent: `sent`, `warning` or `error`.')),
      errorId: t.exposeString('errorId', optional('The kind of error, such as `provider_error`. Null if none.')),
      errorText: t.string({
        ...optional(`The error in words of the service or the provider. Null if none. ${MASKED}`),
        resolve: ({ errorText }, _args, { identity }) => visibleJson(errorText, identity),
      }),
      subscriberId: t.id({
        ...optional('The id of the recipient in your system. Null if the subscriber has been deleted.'),
        extensions: shows('subscriber'),
        resolve: ({ subscriber }) => subscriber?.subscriberId,
      }),
      extra: extraField(t, 'messages', undefined, ['deviceTokens', 'overrides']),
    }),
  });

  const MessagePage = definePage(builder, 'MessagePage', 'messages', Message, 'hasMore');

  builder.queryFields((t) => ({
    messages: t.field({
      type: MessagePage,
      nullable: true,
      extensions: { ...requireScopes('messages:read'), ...declareCalls('1') },
      description:
        'Returns one page of the sent messages, newest first, or of those that the arguments select. Null if the subscriber does not exist.\n\nREST: `GET /v1/messages`.',
      args: {
        page: pageArg(t.arg),
        limit: sizeArg(t.arg, 'messages', MAX),
        channel: t.arg({ type: Channel, description: 'Only messages of this channel. Default: all channels.' }),
        subscriberId: t.arg.id({ description: 'Only messages to this subscriber. Default: to all.' }),
        transactionIds: t.arg.idList({
          description: `Only messages of these transactions, 1 to ${MAX}. Default: of all.`,
        }),
      },
      async resolve(_root, { page, limit, transactionIds, ...filter }, ctx) {
        assertPage({ page, limit }, MAX);
        // Without an id, the service returns the messages of all transactions.
        assertRange('the number of transactionIds', transactionIds?.length ?? 1, 1, MAX);
        let exists = true;
        const read = mergePages(transactionIds ?? undefined, async (number, size, transactionId) => {
          const query = { page: number, limit: size, ...filter, transactionId };
          const sent = withHasMore(await ctx.upstream.read(listMessages, { query }), number, size);
          assertSelected(sent?.data ?? [], filter.subscriberId, transactionId);
          exists &&= sent !== null;
          return sent ?? { page, data: [], hasMore: false, totalCount: 0 };
        });
        const sent = await read(page, limit);
        return exists ? { totalCount: 0, ...sent, page } : null;
      },
    }),
    feeds: t.field({
      type: [Feed],
      nullable: { list: true, items: true },
      extensions: declareCalls('1'),
      description:
        'Returns all feeds. If the service sends an invalid one, it is null and has an entry in `errors`.\n\nREST: `GET /v1/feeds`.',
      resolve: (_root, _args, ctx) => ctx.upstream.read(listFeeds, {}),
    }),
  }));

  mutation('deleteMessage', {
    description: 'Deletes a message. An in-app message disappears from the feed; others have been sent.',
    scope: 'messages:write',
    endpoint: removeMessage,
    input: {
      description: 'The message to delete.',
      fields: (t) => ({ id: t.id({ required: true, description: "The message's id." }) }),
    },
    failures: { notFound: { resource: 'Message', id: ({ id }) => id } },
    inputPath: { messageId: 'id' },
    resolve: async ({ id }, send) => {
      await send({ messageId: id });
      return { id };
    },
    success: {
      description: 'The message was deleted.',
      fields: (t) => ({ deletedId: t.exposeID('id', { description: 'The id of the deleted message.' }) }),
    },
  });

  return { Message };
});
