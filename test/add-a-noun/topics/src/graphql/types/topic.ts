import { createTopic, listTopics, type TopicBody } from '../../upstream/endpoints/topics.ts';
import { requireScopes } from '../declarations.ts';
import { defineModule } from '../module.ts';
import {
  asConflict,
  asInvalidInput,
  deriveIdempotencyKey,
  IDEMPOTENCY_KEY,
  mutationErrors,
  toMutationResult,
} from '../mutations.ts';

export const topics = defineModule('topics', ({ builder, use }) => {
  const { ConflictError, InvalidInputError } = use(mutationErrors);

  const Topic = builder.objectRef<TopicBody>('Topic').implement({
    description: 'A list of subscribers that receive the same notifications.',
    extensions: requireScopes('topics:read'),
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The service's id." }),
      name: t.exposeString('name', { description: 'The name shown to people.' }),
    }),
  });

  const CreateTopicInput = builder.inputType('CreateTopicInput', {
    description: 'The topic to create.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'A name that no other topic has.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });

  const CreateTopicSuccess = builder
    .objectRef<{ __typename: 'CreateTopicSuccess'; topic: TopicBody }>('CreateTopicSuccess')
    .implement({
      description: 'The topic is created.',
      fields: (t) => ({ topic: t.expose('topic', { type: Topic, description: 'The new topic.' }) }),
    });

  const CreateTopicResult = builder.unionType('CreateTopicResult', {
    description: 'The result of createTopic.',
    types: [CreateTopicSuccess, InvalidInputError, ConflictError],
  });

  builder.queryFields((t) => ({
    topics: t.field({
      type: [Topic],
      nullable: true,
      description: 'All topics.\n\nREST: `GET /v1/topics`.',
      resolve: (_root, _args, ctx) => listTopics(ctx.upstream),
    }),
  }));

  builder.mutationFields((t) => ({
    createTopic: t.field({
      type: CreateTopicResult,
      nullable: true,
      extensions: requireScopes('topics:write'),
      description: 'Creates a topic.\n\nREST: `POST /v1/topics`.',
      args: { input: t.arg({ type: CreateTopicInput, required: true, description: 'The topic to create.' }) },
      resolve: (_root, { input }, ctx, info) =>
        toMutationResult(
          createTopic(ctx.upstream, input.name, deriveIdempotencyKey(ctx, info, input.idempotencyKey)),
          ({ body }) => ({ __typename: 'CreateTopicSuccess' as const, topic: body }),
          asInvalidInput(),
          asConflict,
        ),
    }),
  }));
});
