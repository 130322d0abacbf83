// Adds the reads, updates and deletions of subscribers; the built-in schema only creates them.

import { defineShipped } from '../graphql/module.ts';
import { profileFields, subscribers } from '../graphql/types/subscriber.ts';
import type { SubscriberBody } from '../upstream/endpoints.ts';

const MAX_PAGE = 100;

interface PageBody {
  page: number;
  hasMore: boolean;
  /** Sent by some versions instead of `hasMore`. */
  totalCount?: number;
  data: SubscriberBody[];
}

export default defineShipped('notigraph/modules/subscribers', (toolkit) => {
  const { assertRange, builder, declareCalls, endpoint, loader, mutation, use } = toolkit;
  const { Subscriber, keys } = use(subscribers);

  const identifiedBy = ['subscriberId'];
  const get = endpoint('GET /v1/subscribers/{subscriberId}', { identifiedBy }).returns<SubscriberBody>();
  const list = endpoint('GET /v1/subscribers', { expect: 'page', identifiedBy })
    .takes<{ query: { page: number; limit: number } }>()
    .returns<PageBody>();
  const update = endpoint('PUT /v1/subscribers/{subscriberId}', { repeatable: true, clears: true, identifiedBy })
    .takes<{ body: object }>()
    .returns<SubscriberBody>();
  const remove = endpoint('DELETE /v1/subscribers/{subscriberId}', { expect: 'value' });
  const subscriber = loader<SubscriberBody>({ name: 'subscriber', get });
  keys.entity.set('subscriberId', (key, { loaders }) => loaders.load(subscriber, key));

  const SubscriberPage = builder.objectRef<PageBody>('SubscriberPage').implement({
    description: 'A page of the list of subscribers.',
    fields: (t) => ({
      subscribers: t.expose('data', {
        type: [Subscriber],
        nullable: { list: false, items: true },
        description: 'The subscribers. If the service sends an invalid one, it is null and has an entry in `errors`.',
      }),
      page: t.exposeInt('page', { description: 'The number of the page, from 0.' }),
      hasMore: t.exposeBoolean('hasMore', {
        description: 'Whether there may be a next page. The service says so if this one is full.',
      }),
    }),
  });

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
      args: {
        page: t.arg.int({ required: true, defaultValue: 0, description: 'The number of the page, from 0.' }),
        limit: t.arg.int({
          required: true,
          defaultValue: 10,
          description: `The maximum number of subscribers, 1 to ${MAX_PAGE}.`,
        }),
      },
      async resolve(_root, { page, limit }, ctx) {
        assertRange('page', page, 0, Number.MAX_SAFE_INTEGER);
        assertRange('limit', limit, 1, MAX_PAGE);
        const sent = await ctx.upstream.read(list, { query: { page, limit } });
        return sent?.totalCount === undefined
          ? sent
          : {
              ...sent,
              page: sent.page ?? page,
              hasMore: sent.hasMore ?? page * limit + sent.data.length < sent.totalCount,
            };
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
    description: 'Deletes a subscriber.',
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
