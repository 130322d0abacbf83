// Adds the inbox of a subscriber: in-app messages, their states and number, and preferences. A token reaches only that of its subject.

import type { FieldMap, InputFieldMap } from '@pothos/core';
import type { GraphTypes } from '../graphql/builder.ts';
import { defineShipped } from '../graphql/module.ts';
import type { MutationOptions, NotFound, ResolvedInput, Send } from '../graphql/mutations.ts';
import { assertPage, definePage, type PageBody, pageArg, sizeArg } from '../graphql/pages.ts';
import type { Fields } from '../graphql/record-fields.ts';
import { defineInboxMessage } from '../graphql/types/inbox-message.ts';
import { messages } from '../graphql/types/message.ts';
import { definePreferences, type PreferenceBody, type PreferencesBody } from '../graphql/types/preference.ts';
import type { CallArgs, DeclaredEndpoint } from '../upstream/endpoint.ts';
import type { MessageBody } from '../upstream/endpoints.ts';
import { isUpstreamError } from '../upstream/errors.ts';
import type { components } from '../upstream/openapi.gen.ts';
import { isRecordId } from '../upstream/transport/path.ts';

/** Maximum messages of a page and in one mutation, and feeds in one filter. The service counts up to this number too. */
const MAX = 100;

type Schemas = components['schemas'];
type ChoiceBody = Schemas['ChannelChoice'];
type MarkBody = { markAs: Schemas['MarkAs'] };
type Feeds = { feedIdentifier?: readonly string[] };
type InboxBody = { subscriberId: string };

/** Mutation of an inbox: what those of it don't have in common. */
type Change<Args extends CallArgs, Body, Own extends InputFieldMap, Result> = Pick<
  MutationOptions<Args, Body, Own, object, 'subscriberId'>,
  'description' | 'endpoint' | 'extensions' | 'inputPath'
> & {
  fields: (t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>) => Own;
  /** The record that the service may not have. @default the subscriber */
  notFound?: NotFound<ResolvedInput<Own, 'subscriberId'>>;
  resolve: (input: ResolvedInput<Own, 'subscriberId'>, send: Send<Args, Body>) => Promise<Result>;
  success: (t: Fields<Awaited<Result> & { inbox: InboxBody }>) => FieldMap;
};

/** Whether a call can have failed because of its ids: some services fail with 500 on one that can't be that of a record. */
const rejectsIds = (error: unknown): boolean =>
  isUpstreamError(error) && (error.status === 500 || error.code === 'BAD_USER_INPUT');

export default defineShipped('notigraph/modules/inbox', (toolkit) => {
  const { assertRange, builder, declareCalls, endpoint, mutation, nullIfAbsent } = toolkit;
  const { requireScopes, SUBJECT, subjectOf, use } = toolkit;
  const { Channel } = use(messages);
  const InboxMessage = defineInboxMessage(toolkit);
  const { ChannelPreferences, WorkflowPreference } = definePreferences(toolkit);

  const list = { expect: 'list' } as const;
  const write = { idempotent: true } as const;
  const writeToValue = { ...write, expect: 'value' } as const;
  const writeToWorkflow = { ...write, recordIds: ['workflowId'] } as const;
  const writeToMessages = { ...write, expect: 'nothing', recordIds: ['messageId'] } as const;

  const listMessages = endpoint('GET /v1/subscribers/{subscriberId}/notifications/feed', { expect: 'page' })
    .takes<{ query: { page: number; limit: number; seen?: boolean; read?: boolean } & Feeds }>()
    .returns<PageBody<MessageBody>>();
  const count = endpoint('GET /v1/subscribers/{subscriberId}/notifications/unseen', { identifiedBy: ['count'] })
    .takes<{ query: { seen: boolean; limit: number; feedId?: readonly string[] } & Feeds }>()
    .returns<Schemas['MessageCount']>();
  // The service answers with every message that has one of the ids, whoever's it is, so nothing of the response is used.
  const mark = endpoint('POST /v1/subscribers/{subscriberId}/messages/mark-as', writeToMessages).takes<{
    body: MarkBody & { messageId: readonly string[] };
  }>();
  const markAll = endpoint('POST /v1/subscribers/{subscriberId}/messages/mark-all', writeToValue)
    .takes<{ body: MarkBody & Feeds }>()
    .returns<number>();
  const complete = endpoint(
    'POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{type}',
    writeToMessages,
  ).takes<{ body: { status: 'done'; payload?: object } }>();
  const preferences = endpoint('GET /v1/subscribers/{subscriberId}/preferences', list).returns<PreferenceBody[]>();
  const globals = endpoint('GET /v1/subscribers/{subscriberId}/preferences/global', list).returns<PreferencesBody[]>();
  const updateOne = endpoint('PATCH /v1/subscribers/{subscriberId}/preferences/{workflowId}', writeToWorkflow)
    .takes<{ body: { enabled?: boolean; channel?: ChoiceBody } }>()
    .returns<PreferenceBody>();
  const updateAll = endpoint('PATCH /v1/subscribers/{subscriberId}/preferences', write)
    .takes<{ body: { enabled?: boolean; preferences?: readonly ChoiceBody[] } }>()
    .returns<PreferencesBody>();

  const readable = { extensions: requireScopes('inbox:read') };
  const subscriber = (id: string) => ({ resource: 'Subscriber', id });
  const feedArgs = { description: 'Only messages in feeds with these identifiers. Default: all.' };

  /** Returns feeds as they are sent. None would mean all of them to the service. */
  const feedsOf = (feeds: readonly string[] | null | undefined) => {
    assertRange('the number of feeds', feeds?.length ?? 1, 1, MAX);
    return feeds ?? undefined;
  };

  const MarkAs = builder.enumType('MarkAs', {
    description: 'A state of in-app messages.',
    values: {
      SEEN: { value: 'seen', description: 'The message was shown to the person.' },
      UNSEEN: { value: 'unseen', description: 'The message was not shown to the person.' },
      READ: { value: 'read', description: 'The person read the message. It is also seen.' },
      UNREAD: { value: 'unread', description: 'The person did not read the message. It is seen.' },
    } as const,
  });

  const InboxPage = definePage(builder, 'InboxPage', 'messages', InboxMessage, 'hasMore', readable.extensions);

  const InboxCount = builder.objectRef<Schemas['MessageCount']>('InboxCount').implement({
    description: 'A number of messages.',
    ...readable,
    fields: (t) => ({
      count: t.exposeInt('count', { description: `The number. The service counts up to ${MAX}.` }),
      isMore: t.boolean({
        description: 'Whether there may be more: show `99+`.',
        resolve: (sent) => sent.count >= MAX,
      }),
    }),
  });

  const ChannelPreferenceInput = builder.inputType('ChannelPreferenceInput', {
    description: 'Whether a person wants messages over a channel.',
    fields: (t) => ({
      channel: t.field({ type: Channel, required: true, description: 'The channel.' }),
      enabled: t.boolean({ required: true, description: 'Whether messages may be sent.' }),
    }),
  });

  const readBy = (read: DeclaredEndpoint, description: string) => ({
    nullable: true as const,
    extensions: declareCalls('1', { endpoint: read, reason: 'One per inbox.' }),
    description: `${description}\n\nREST: \`GET ${read.route}\`.`,
  });

  const Inbox = builder.objectRef<InboxBody>('Inbox').implement({
    description: 'The in-app messages and preferences of a subscriber. Empty as long as the service does not know it.',
    ...readable,
    fields: (t) => ({
      subscriberId: t.id({
        description: 'The id of the subscriber in your system.',
        resolve: ({ subscriberId: id }, _args, ctx) => ctx.tryKey()?.then(() => id) ?? id, // Only the service knows its keys.
      }),
      messages: t.field({
        type: InboxPage,
        ...readBy(listMessages, 'Returns one page of the messages, with the newest first.'),
        args: {
          page: pageArg(t.arg),
          limit: sizeArg(t.arg, 'messages', MAX),
          seen: t.arg.boolean({ description: 'Only seen messages, or only unseen ones. Default: all.' }),
          read: t.arg.boolean({ description: 'Only read messages, or only unread ones. Default: all.' }),
          feeds: t.arg.stringList(feedArgs),
        },
        async resolve({ subscriberId: id }, { page, limit, feeds, ...filter }, ctx) {
          assertPage({ page, limit }, MAX);
          const query = { page, limit, ...filter, feedIdentifier: feedsOf(feeds) };
          const read = ctx.upstream.read(listMessages, { subscriberId: id, query });
          const sent = (await nullIfAbsent(read, subscriber(id))) ?? { hasMore: false, totalCount: 0, data: [] };
          const { data } = sent;
          return { ...sent, page, hasMore: sent.hasMore ?? data.length >= limit };
        },
      }),
      unseen: t.field({
        type: InboxCount,
        ...readBy(count, 'Returns the number of messages that the person has not seen.'),
        args: { feeds: t.arg.stringList(feedArgs) },
        async resolve({ subscriberId: id }, args, ctx) {
          const feeds = feedsOf(args.feeds);
          const query = { seen: false, limit: MAX, feedIdentifier: feeds, feedId: feeds }; // Its name before 2025, and since.
          const read = ctx.upstream.read(count, { subscriberId: id, query });
          return (await nullIfAbsent(read, subscriber(id))) ?? { count: 0 };
        },
      }),
      preferences: t.field({
        type: [WorkflowPreference],
        ...readBy(preferences, 'Returns the preference for each active workflow; some versions omit critical ones.'),
        nullable: { list: true, items: true },
        resolve: async ({ subscriberId: id }, _args, ctx) =>
          (await nullIfAbsent(ctx.upstream.read(preferences, { subscriberId: id }), subscriber(id))) ?? [],
      }),
      globalPreferences: t.field({
        type: ChannelPreferences,
        ...readBy(globals, 'Returns the preferences for all workflows. Null until the service knows the subscriber.'),
        resolve: async ({ subscriberId: id }, _args, ctx) =>
          (await nullIfAbsent(ctx.upstream.read(globals, { subscriberId: id }), subscriber(id)))?.[0],
      }),
    }),
  });

  builder.queryField('inbox', (t) =>
    t.field({
      type: Inbox,
      nullable: true,
      extensions: declareCalls('1 per field of the inbox'),
      description: 'Returns the inbox of a subscriber. A token has only that of its subject.',
      args: { subscriberId: t.arg.id({ description: SUBJECT }) },
      resolve: (_root, { subscriberId: id }, ctx) => ({ subscriberId: subjectOf(ctx, id, 'subscriberId') }),
    }),
  );

  /** Declares a mutation of an inbox, whose success has the inbox too. */
  const change = <Args extends CallArgs, Body, Own extends InputFieldMap, Result extends object>(
    name: string,
    { fields, notFound, resolve, success, ...options }: Change<Args, Body, Own, Result>,
  ) =>
    mutation(name, {
      ...options,
      scope: 'inbox:write',
      subject: 'subscriberId',
      input: { description: `The input of \`${name}\`.`, argument: 'The change.', fields },
      failures: { notFound: notFound ?? { resource: 'Subscriber', id: ({ subscriberId }) => subscriberId } },
      resolve: async (input, send) => ({
        ...(await resolve(input, send)),
        inbox: { subscriberId: input.subscriberId },
      }),
      success: {
        description: 'The change was made.',
        fields: (t) => ({
          ...success(t),
          inbox: t.field({
            type: Inbox,
            description: 'The inbox, read after the change.',
            resolve: ({ inbox }) => inbox,
          }),
        }),
      },
    });

  change('markMessages', {
    description: `Marks 1 to ${MAX} messages. Ids of messages that are not in the inbox have no effect. If the service rejects some ids, the others are marked.`,
    extensions: declareCalls('1 or 2', { endpoint: mark, max: 2, reason: 'One more if ids are rejected.' }),
    endpoint: mark,
    fields: (t) => ({
      messageIds: t.idList({ required: true, description: 'The ids of the messages.' }),
      as: t.field({ type: MarkAs, required: true, description: 'The new state.' }),
    }),
    inputPath: { messageId: 'messageIds', markAs: 'as' },
    async resolve({ subscriberId, messageIds, as }, send) {
      assertRange('the number of messageIds', messageIds.length, 1, MAX);
      const markOnly = (ids: readonly string[]) => send({ subscriberId, body: { messageId: ids, markAs: as } });
      const all = markOnly(messageIds);
      const isRejected = await all.then(() => false, rejectsIds);
      const odd = isRejected ? messageIds.filter((id) => !isRecordId(id)) : [];
      const isMixed = odd.length > 0 && odd.length < messageIds.length;
      await (isMixed ? markOnly(messageIds.filter(isRecordId)) : all); // Marking twice is harmless, if the first call marked some.
      return { messageIds, failedIds: isMixed ? odd : [] };
    },
    success: (t) => ({
      messageIds: t.idList({ description: 'The ids that you sent.', resolve: ({ messageIds }) => messageIds }),
      failedIds: t.exposeIDList('failedIds', { description: 'Those that the service rejected. Others are marked.' }),
    }),
  });

  change('markAllMessages', {
    description: 'Marks all messages of the inbox, or those in some feeds.',
    endpoint: markAll,
    fields: (t) => ({
      as: t.field({ type: MarkAs, required: true, description: 'The new state.' }),
      feeds: t.stringList(feedArgs),
    }),
    inputPath: { markAs: 'as', feedIdentifier: 'feeds' },
    resolve: async ({ subscriberId, as, feeds }, send) => ({
      changed: await send({ subscriberId, body: { markAs: as, feedIdentifier: feedsOf(feeds) } }),
    }),
    success: (t) => ({
      changed: t.exposeInt('changed', { description: 'The number of messages that were in another state.' }),
    }),
  });

  change('completeMessageAction', {
    description: 'Stores that the person pressed a button of a message.',
    endpoint: complete,
    fields: (t) => ({
      messageId: t.id({ required: true, description: 'The id of the message.' }),
      button: t.id({ required: true, description: 'The kind of the button: `primary` or `secondary`.' }),
      payload: t.field({ type: 'JSONObject', description: 'Data to store with it. Default: none.' }),
    }),
    notFound: { resource: 'Message', id: ({ messageId }) => messageId, byMessage: true },
    inputPath: { type: 'button' },
    async resolve({ subscriberId, messageId, button, payload }, send) {
      await send({ subscriberId, messageId, type: button, body: { status: 'done', payload: payload ?? undefined } });
      return { messageId };
    },
    success: (t) => ({ messageId: t.exposeID('messageId', { description: 'The id of the message.' }) }),
  });

  change('updateWorkflowPreference', {
    description: 'Changes whether the person wants messages of a workflow. A critical one sends them all the same.',
    endpoint: updateOne,
    fields: (t) => ({
      workflowId: t.id({ required: true, description: "The workflow's id." }),
      channel: t.field({ type: Channel, description: 'The channel. Default: all, before versions of 2025.' }),
      enabled: t.boolean({ required: true, description: 'Whether messages may be sent.' }),
    }),
    notFound: { resource: 'Workflow', id: ({ workflowId }) => workflowId },
    inputPath: (path) => (path.at(-1) === 'type' ? ['channel'] : path.slice(-1)), // The body has both in `channel`.
    async resolve({ subscriberId, workflowId, channel, enabled }, send) {
      const body = channel == null ? { enabled } : { channel: { type: channel, enabled } };
      return { preference: await send({ subscriberId, workflowId, body }) };
    },
    success: (t) => ({
      preference: t.expose('preference', { type: WorkflowPreference, description: 'The changed preference.' }),
    }),
  });

  change('updateGlobalPreferences', {
    description: 'Changes the messages that the person wants to receive at all. What is omitted stays.',
    endpoint: updateAll,
    fields: (t) => ({
      enabled: t.boolean({ description: 'Whether any messages may be sent. Versions since 2025 ignore it.' }),
      channels: t.field({ type: [ChannelPreferenceInput], description: 'The channels to change.' }),
    }),
    inputPath: (path) => path.map((name) => (name === 'preferences' ? 'channels' : name === 'type' ? 'channel' : name)),
    async resolve({ subscriberId, enabled, channels }, send) {
      const preferences = channels?.map((each) => ({ type: each.channel, enabled: each.enabled }));
      return { preferences: await send({ subscriberId, body: { enabled: enabled ?? undefined, preferences } }) };
    },
    success: (t) => ({
      preferences: t.expose('preferences', { type: ChannelPreferences, description: 'The changed preferences.' }),
    }),
  });

  return { Inbox, InboxMessage };
});
