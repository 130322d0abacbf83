// Adds topics, their queries, and the mutations of topics and their subscribers.

import { isRecord } from '../../lib/is-record.ts';
import type { CreatedTopicBody, SentTopic } from '../../upstream/endpoints.ts';
import { defineShipped } from '../module.ts';
import type { GraphTypes } from '../toolkit/builder.ts';
import { assertPage, definePage, type PageBody, pageArg, sizeArg } from '../types/pages.ts';
import { nameField } from '../types/record-fields.ts';

/** Maximum subscribers in one mutation. */
const MAX = 100;

/** Maximum topics of one page. */
const MAX_PAGE = 10;

export interface TopicBody extends SentTopic {
  /** Missing in topics from newer endpoints of the service. */
  name: string;
}

/** Returns the ids in a value: a list of them, or one. Other values are left out. */
const idsIn = (value: unknown): string[] =>
  [value].flat().flatMap((id) => (typeof id === 'string' || typeof id === 'number' ? String(id) : []));

const subscribersOfTopic = (t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>) => ({
  key: t.id({ required: true, description: "The topic's key." }),
  subscriberIds: t.idList({ required: true, description: 'The ids of the subscribers in your system.' }),
});

export default defineShipped('notigraph/modules/topics', (toolkit) => {
  const { ADDS_ONLY, assertRange, builder, declareCalls, endpoint, entity, loader, mutation, requireScopes } = toolkit;

  const identifiedBy = ['key'];
  const get = endpoint('GET /v1/topics/{topicKey}', { identifiedBy }).returns<TopicBody>();
  const list = endpoint('GET /v1/topics', { expect: 'page', identifiedBy })
    .takes<{ query: { page: number; pageSize: number; key?: string } }>()
    .returns<PageBody<TopicBody>>();
  const create = endpoint('POST /v1/topics', { idempotent: true, identifiedBy })
    .takes<{ body: { key: string; name: string } }>()
    .returns<CreatedTopicBody>();
  const rename = endpoint('PATCH /v1/topics/{topicKey}', { idempotent: true, identifiedBy, confirms: ['name'] })
    .takes<{ body: { name: string } }>()
    .returns<TopicBody>();
  const remove = endpoint('DELETE /v1/topics/{topicKey}', { expect: 'nothing' });
  const add = endpoint('POST /v1/topics/{topicKey}/subscribers', { expect: 'value', idempotent: true }).takes<{
    body: { subscribers: readonly string[] };
  }>();
  const removeSubscribers = endpoint('POST /v1/topics/{topicKey}/subscribers/removal', {
    expect: 'nothing',
    idempotent: true,
  }).takes<{ body: { subscribers: readonly string[] } }>();
  const topic = loader<TopicBody>({ name: 'topic', get });

  const Topic = builder.objectRef<TopicBody>('Topic').implement({
    description: 'A list of subscribers that are notified together.',
    extensions: {
      ...requireScopes('topics:read'),
      ...entity({ key: (key, { loaders }) => loaders.load(topic, key) }),
      ...declareCalls('1'),
    },
    fields: (t) => ({
      key: t.exposeID('key', { description: 'The key with which apps name the topic. Unique within the environment.' }),
      id: t.exposeID('_id', { nullable: true, description: "The topic's id, or null if the service sent none." }),
      name: t.string({
        description: 'The name that people see. The key if it has none.',
        resolve: ({ name, key }) => name ?? key,
      }),
      subscriberIds: t.field({
        type: ['ID'],
        description: 'The ids of its subscribers in your system.',
        resolve: ({ subscribers }) => subscribers ?? [],
      }),
    }),
  });

  const TopicPage = definePage(builder, 'TopicPage', 'topics', Topic, 'totalCount');

  builder.queryFields((t) => ({
    topic: t.field({
      type: Topic,
      nullable: true,
      extensions: declareCalls('1 per distinct key in the operation'),
      description: 'Returns a topic, or null if it does not exist.\n\nREST: `GET /v1/topics/{topicKey}`.',
      args: { key: t.arg.id({ required: true, description: "The topic's key." }) },
      resolve: (_root, { key }, ctx) => ctx.loaders.load(topic, key),
    }),
    topics: t.field({
      type: TopicPage,
      nullable: true,
      extensions: { ...requireScopes('topics:read'), ...declareCalls('1') },
      description: 'Returns one page of all topics.\n\nREST: `GET /v1/topics`.',
      args: {
        page: pageArg(t.arg),
        pageSize: sizeArg(t.arg, 'topics', MAX_PAGE),
        key: t.arg.string({ description: 'Only the topic with this key. Default: all topics.' }),
      },
      resolve(_root, { page, pageSize, key }, ctx) {
        assertPage({ page, pageSize }, MAX_PAGE);
        return ctx.upstream.read(list, { query: { page, pageSize, key } });
      },
    }),
  }));

  mutation('createTopic', {
    description: 'Creates a topic.',
    scope: 'topics:write',
    endpoint: create,
    extensions: ADDS_ONLY,
    input: {
      description: 'The topic to create.',
      fields: (t) => ({
        key: t.id({ required: true, description: 'The key, which must be unique within the environment.' }),
        name: nameField(t, 'The name that people see.'),
      }),
    },
    resolve: async ({ key, name }, send) => ({ topic: { name, ...(await send({ body: { key, name } })) } }),
    success: {
      description: 'The topic was created.',
      fields: (t) => ({ topic: t.expose('topic', { type: Topic, description: 'The new topic.' }) }),
    },
  });

  mutation('renameTopic', {
    description: 'Renames a topic.',
    scope: 'topics:write',
    endpoint: rename,
    input: {
      description: 'The topic to rename.',
      fields: (t) => ({
        key: t.id({ required: true, description: "The topic's key." }),
        name: nameField(t, 'The new name.'),
      }),
    },
    failures: { notFound: { resource: 'Topic', id: ({ key }) => key } },
    inputPath: { topicKey: 'key' },
    resolve: async ({ key, name }, send) => ({ topic: await send({ topicKey: key, body: { name } }) }),
    success: {
      description: 'The topic was renamed.',
      fields: (t) => ({ topic: t.expose('topic', { type: Topic, description: 'The updated topic.' }) }),
    },
  });

  mutation('deleteTopic', {
    description: 'Deletes a topic without subscribers. One that has subscribers is a `ConflictError`.',
    scope: 'topics:write',
    endpoint: remove,
    input: {
      description: 'The topic to delete.',
      fields: (t) => ({ key: t.id({ required: true, description: "The topic's key." }) }),
    },
    failures: { notFound: { resource: 'Topic', id: ({ key }) => key }, conflict: true },
    inputPath: { topicKey: 'key' },
    resolve: async ({ key }, send) => {
      await send({ topicKey: key });
      return { key };
    },
    success: {
      description: 'The topic was deleted.',
      fields: (t) => ({ deletedKey: t.exposeID('key', { description: 'The key of the deleted topic.' }) }),
    },
  });

  mutation('addSubscribersToTopic', {
    description: `Adds 1 to ${MAX} subscribers to a topic. Those that don't exist are listed in the result.`,
    scope: 'topics:write',
    endpoint: add,
    input: { description: 'The topic and the subscribers to add.', fields: subscribersOfTopic },
    failures: { notFound: { resource: 'Topic', id: ({ key }) => key } },
    inputPath: { topicKey: 'key', subscribers: 'subscriberIds' },
    resolve: async ({ key, subscriberIds }, send) => {
      assertRange('the number of subscriberIds', subscriberIds.length, 1, MAX);
      const sent = await send({ topicKey: key, body: { subscribers: subscriberIds } }); // Nothing, if all were added.
      const { succeeded, failed } = isRecord(sent) ? sent : {};
      const unknown = isRecord(failed) ? idsIn(failed.notFound) : [];
      const others = subscriberIds.filter((id) => !unknown.includes(id));
      return { added: Array.isArray(succeeded) ? idsIn(succeeded) : others, unknown };
    },
    success: {
      description: 'The subscribers that exist were added.',
      fields: (t) => ({
        addedIds: t.exposeIDList('added', { description: 'The ids of the added subscribers.' }),
        unknownIds: t.exposeIDList('unknown', { description: 'The ids of subscribers that do not exist.' }),
      }),
      failures: ({ unknown }) => unknown.map(() => 'UNKNOWN_SUBSCRIBER'),
    },
  });

  mutation('removeSubscribersFromTopic', {
    description: `Removes 1 to ${MAX} subscribers from a topic.`,
    scope: 'topics:write',
    endpoint: removeSubscribers,
    input: { description: 'The topic and the subscribers to remove.', fields: subscribersOfTopic },
    failures: { notFound: { resource: 'Topic', id: ({ key }) => key } },
    inputPath: { topicKey: 'key', subscribers: 'subscriberIds' },
    resolve: async ({ key, subscriberIds }, send) => {
      assertRange('the number of subscriberIds', subscriberIds.length, 1, MAX);
      await send({ topicKey: key, body: { subscribers: subscriberIds } });
      return { key, removed: [...subscriberIds] };
    },
    success: {
      description: 'The subscribers are no longer in the topic.',
      fields: (t) => ({
        key: t.exposeID('key', { description: 'The key of the topic.' }),
        removedIds: t.exposeIDList('removed', { description: 'The ids of the removed subscribers.' }),
      }),
    },
  });

  return { Topic, topic };
});
