import { createFeed, deleteFeed, type FeedBody } from '../../upstream/endpoints/feeds.ts';
import { ADDS_ONLY, Entity, requireScopes } from '../declarations.ts';
import { defineModule } from '../module.ts';
import {
  asConflict,
  asInvalidInput,
  asNotFound,
  asNotFoundByMessage,
  deriveIdempotencyKey,
  IDEMPOTENCY_KEY,
  mutationErrors,
  REPLAYED,
  toMutationResult,
} from '../mutations.ts';

/** Feeds, which can be created and deleted. */
export const feeds = defineModule('feeds', ({ builder, use }) => {
  const { ConflictError, InvalidInputError, NotFoundError } = use(mutationErrors);

  const Feed = builder.objectRef<FeedBody>('Feed').implement({
    description: 'A feed of in-app messages, such as "Product news", which an app shows as a separate list.',
    extensions: { ...requireScopes('feeds:read'), entity: new Entity({ id: null }) },
    fields: (t) => ({
      id: t.exposeID('_id', { nullable: true, description: "The feed's id, or null if the service sent none." }),
      identifier: t.exposeString('identifier', {
        description: 'The identifier that the service assigned to the feed.',
      }),
      name: t.exposeString('name', { description: 'The name, unique within the environment.' }),
      organizationId: t.exposeID('_organizationId', { description: 'The id of the organization that owns the feed.' }),
      environmentId: t.exposeID('_environmentId', {
        description: 'The id of the environment that the feed belongs to.',
      }),
    }),
  });

  const CreateFeedInput = builder.inputType('CreateFeedInput', {
    description: 'The feed to create.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'The name, which must be unique within the environment.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });

  const DeleteFeedInput = builder.inputType('DeleteFeedInput', {
    description: 'The feed to delete.',
    fields: (t) => ({ id: t.id({ required: true, description: "The feed's id." }) }),
  });

  const CreateFeedSuccess = builder
    .objectRef<{ __typename: 'CreateFeedSuccess'; feed: FeedBody; replayed: boolean }>('CreateFeedSuccess')
    .implement({
      description: 'The feed was created.',
      fields: (t) => ({
        feed: t.expose('feed', { type: Feed, description: 'The new feed.' }),
        replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
      }),
    });

  const DeleteFeedSuccess = builder
    .objectRef<{ __typename: 'DeleteFeedSuccess'; id: string; remainingFeeds: FeedBody[] }>('DeleteFeedSuccess')
    .implement({
      description: 'The feed was deleted.',
      fields: (t) => ({
        deletedId: t.exposeID('id', { description: 'The id of the deleted feed.' }),
        remainingFeeds: t.expose('remainingFeeds', {
          type: [Feed],
          description: 'The remaining feeds of the environment.',
        }),
      }),
    });

  const CreateFeedResult = builder.unionType('CreateFeedResult', {
    description: 'The result of `createFeed`.',
    types: [CreateFeedSuccess, InvalidInputError, ConflictError],
  });

  const DeleteFeedResult = builder.unionType('DeleteFeedResult', {
    description: 'The result of `deleteFeed`.',
    types: [DeleteFeedSuccess, NotFoundError, InvalidInputError, ConflictError],
  });

  builder.mutationFields((t) => ({
    createFeed: t.field({
      type: CreateFeedResult,
      nullable: true,
      extensions: { ...requireScopes('feeds:write'), ...ADDS_ONLY },
      description: 'Creates a feed. A name that already exists is a `ConflictError`.\n\nREST: `POST /v1/feeds`.',
      args: { input: t.arg({ type: CreateFeedInput, required: true, description: 'The feed to create.' }) },
      resolve: (_root, { input }, ctx, info) =>
        toMutationResult(
          createFeed(ctx.upstream, input.name, deriveIdempotencyKey(ctx, info, input.idempotencyKey)),
          ({ body, replayed }) => ({ __typename: 'CreateFeedSuccess' as const, feed: body, replayed }),
          asInvalidInput(),
          asConflict,
        ),
    }),
    deleteFeed: t.field({
      type: DeleteFeedResult,
      nullable: true,
      extensions: requireScopes('feeds:write'),
      description:
        'Deletes a feed and returns the remaining ones. A feed that a step still uses is an `InvalidInputError`.\n\nREST: `DELETE /v1/feeds/{feedId}`.',
      args: { input: t.arg({ type: DeleteFeedInput, required: true, description: 'The feed to delete.' }) },
      resolve: (_root, { input: { id } }, ctx) =>
        toMutationResult(
          deleteFeed(ctx.upstream, id),
          ({ body }) => ({ __typename: 'DeleteFeedSuccess' as const, id, remainingFeeds: body }),
          asNotFound('Feed', id),
          asNotFoundByMessage('Feed', id),
          asInvalidInput(['input'], { feedId: 'id' }),
          asConflict,
        ),
    }),
  }));

  return { Feed };
});
