import { createTopic, listTopics, type TopicBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';

export const topics = defineModule('topics', ({ builder, mutation, requireScopes }) => {
  const Topic = builder.objectRef<TopicBody>('Topic').implement({
    description: 'A list of subscribers that receive the same notifications.',
    extensions: requireScopes('topics:read'),
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The service's id." }),
      name: t.exposeString('name', { description: 'The name shown to people.' }),
    }),
  });

  builder.queryFields((t) => ({
    topics: t.field({
      type: [Topic],
      nullable: true,
      description: 'All topics.\n\nREST: `GET /v1/topics`.',
      resolve: (_root, _args, ctx) => ctx.upstream.read(listTopics, {}),
    }),
  }));

  mutation('createTopic', {
    description: 'Creates a topic.',
    scope: 'topics:write',
    endpoint: createTopic,
    input: {
      description: 'The topic to create.',
      fields: (t) => ({ name: t.string({ required: true, description: 'A name that no other topic has.' }) }),
    },
    resolve: async ({ name }, send) => ({ topic: await send({ body: { name } }) }),
    success: {
      description: 'The topic is created.',
      fields: (t) => ({ topic: t.expose('topic', { type: Topic, description: 'The new topic.' }) }),
    },
  });
});
