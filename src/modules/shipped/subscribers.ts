// Adds the reads, updates and deletions of subscribers; the built-in schema only creates them.

import type { SubscriberBody } from '../../upstream/endpoints.ts';
import { defineShipped } from '../module.ts';
import { assertPage, definePage, type PageBody, pageArg, sizeArg, withHasMore } from '../types/pages.ts';
import { profileFields, subscribers } from '../types/subscriber.ts';

const MAX_PAGE = 100;

export default defineShipped('notigraph/modules/subscribers', (toolkit) => {
  const { builder, declareCalls, endpoint, loader, mutation, use } = toolkit;
  const { Subscriber, keys } = use(subscribers);

  const identifiedBy = ['subscriberId'];
  const get = endpoint('GET /v1/subscribers/{subscriberId}', { identifiedBy }).returns<SubscriberBody>();
  const list = endpoint('GET /v1/subscribers', { expect: 'page', identifiedBy })
    .takes<{ query: { page: number; limit: number } }>()
    .returns<PageBody<SubscriberBody>>();
  const update = endpoint('PUT /v1/subscribers/{subscriberId}', { repeatable: true, clears: true, identifiedBy })
    .takes<{ body: object }>()
    .returns<SubscriberBody>();
  const remove = endpoint('DELETE /v1/subscribers/{subscriberId}', { expect: 'value' });
  const subscriber = loader<SubscriberBody>({ name: 'subscriber', get });
  keys.entity.set('subscriberId', (key, { loaders }) => loaders.load(subscriber, key));

  const SubscriberPage = definePage(builder, 'SubscriberPage', 'subscribers', Subscriber, 'hasMore');

  builder.queryFields((t) => ({
    subscriber: t.field({
      type: Subscriber,
      nullable: true,
      extensions: declareCalls('1 per distinct id in the operation'),
      description: 'Returns a subscriber, or null if it does not exist.\n\nREST: `GET /v1/subscribers/{subscriberId}`.',
      args: { subscriberId: t.arg.id({ required: true, description: 'The id of the subscriber in your system.' }) },
      resolve: (_root, { subscriberId }, ctx) => ctx.loaders.load(subscriber, subscriberId),
    }),
    subscribers: t.field({
      type: SubscriberPage,
      nullable: true,
      extensions: { ...toolkit.requireScopes('subscribers:read'), ...declareCalls('1') },
      description: 'Returns one page of all subscribers.\n\nREST: `GET /v1/subscribers`.',
      args: { page: pageArg(t.arg), limit: sizeArg(t.arg, 'subscribers', MAX_PAGE) },
      async resolve(_root, { page, limit }, ctx) {
        assertPage({ page, limit }, MAX_PAGE);
        return withHasMore(await ctx.upstream.read(list, { query: { page, limit } }), page, limit);
      },
    }),
  }));

  mutation('updateSubscriber', {
    description: 'Updates a subscriber that exists. Fields that are omitted keep their values, and null clears them.',
    scope: 'subscribers:write',
    endpoint: update,
    input: {
      description: 'The subscriber to update.',
      fields: (t) => ({
        subscriberId: t.id({ required: true, description: 'The id of the subscriber in your system.' }),
        ...profileFields(t),
        data: t.field({
          type: 'JSONObject',
          description: 'Your own key/value pairs, which replace all existing ones. Null clears them.',
        }),
      }),
    },
    failures: { notFound: { resource: 'Subscriber', id: ({ subscriberId }) => subscriberId, byMessage: true } },
    resolve: async ({ subscriberId, ...body }, send) => ({ subscriber: await send({ subscriberId, body }) }),
    success: {
      description: 'The subscriber was updated.',
      fields: (t) => ({
        subscriber: t.expose('subscriber', { type: Subscriber, description: 'The updated subscriber.' }),
      }),
    },
  });

  mutation('deleteSubscriber', {
    description:
      'Deletes a subscriber. Its messages stay, with their contents, and nothing finds them afterwards: delete them before. Services before 2025 also keep the record: events to it are accepted and never sent, until `createSubscriber` brings it back.',
    scope: 'subscribers:write',
    endpoint: remove,
    input: {
      description: 'The subscriber to delete.',
      fields: (t) => ({
        subscriberId: t.id({ required: true, description: 'The id of the subscriber in your system.' }),
      }),
    },
    failures: { notFound: { resource: 'Subscriber', id: ({ subscriberId }) => subscriberId, byMessage: true } },
    resolve: async ({ subscriberId }, send) => {
      await send({ subscriberId });
      return { subscriberId };
    },
    success: {
      description: 'The subscriber was deleted.',
      fields: (t) => ({
        deletedId: t.exposeID('subscriberId', { description: 'The id of the deleted subscriber in your system.' }),
      }),
    },
  });

  return { Subscriber, subscriber };
});
