// Adds feeds, and the mutations that create and delete them.

import { createFeed, deleteFeed, type FeedBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { nameField, ownerFields } from './record-fields.ts';

export const feeds = defineModule('feeds', ({ ADDS_ONLY, builder, entity, mutation, requireScopes }) => {
  const Feed = builder.objectRef<FeedBody>('Feed').implement({
    description: 'A feed of in-app messages, such as "Product news", which an app shows as a separate list.',
    extensions: { ...requireScopes('feeds:read'), ...entity({ id: null }) },
    fields: (t) => ({
      id: t.exposeID('_id', { nullable: true, description: "The feed's id, or null if the service sent none." }),
      identifier: t.exposeString('identifier', {
        description: 'The identifier that the service assigned to the feed.',
      }),
      name: t.exposeString('name', { description: 'The name, unique within the environment.' }),
      ...ownerFields(t, 'feed'),
    }),
  });

  mutation('createFeed', {
    description: 'Creates a feed. A name that already exists is a `ConflictError`.',
    scope: 'feeds:write',
    endpoint: createFeed,
    extensions: ADDS_ONLY,
    input: {
      description: 'The feed to create.',
      fields: (t) => ({ name: nameField(t, 'The name, which must be unique within the environment.') }),
    },
    resolve: async ({ name }, send) => ({ feed: await send({ body: { name } }) }),
    success: {
      description: 'The feed was created.',
      fields: (t) => ({ feed: t.expose('feed', { type: Feed, description: 'The new feed.' }) }),
    },
  });

  mutation('deleteFeed', {
    description:
      'Deletes a feed and returns the remaining ones. A feed that a step still uses is an `InvalidInputError`.',
    scope: 'feeds:write',
    endpoint: deleteFeed,
    input: {
      description: 'The feed to delete.',
      fields: (t) => ({ id: t.id({ required: true, description: "The feed's id." }) }),
    },
    failures: { notFound: { resource: 'Feed', id: ({ id }) => id, byMessage: true }, conflict: true },
    inputPath: { feedId: 'id' },
    async resolve({ id }, send) {
      const body = await send({ feedId: id });
      return { id, remainingFeeds: Array.isArray(body) ? body : null };
    },
    success: {
      description: 'The feed was deleted.',
      fields: (t) => ({
        deletedId: t.exposeID('id', { description: 'The id of the deleted feed.' }),
        remainingFeeds: t.expose('remainingFeeds', {
          type: [Feed],
          nullable: { list: true, items: true },
          description:
            'The remaining feeds of the environment. Null if the service did not send them. If it sends an invalid one, that feed is null and has an entry in `errors`.',
        }),
      }),
    },
  });

  return { Feed };
});
