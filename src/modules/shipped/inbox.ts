// Adds the inbox of a subscriber, and the mutations of its messages and preferences. A token reaches only that of its subject.

import type { FieldMap, InputFieldMap } from '@pothos/core';
import type { GatewayContext } from '../../graphql/context.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { CallArgs } from '../../upstream/endpoint.ts';
import type {
  ChannelChoiceBody,
  MarkAs,
  MessageBody,
  PreferenceBody,
  PreferencesBody,
} from '../../upstream/endpoints.ts';
import { isUpstreamError } from '../../upstream/errors.ts';
import { isRecordId } from '../../upstream/input-rules.ts';
import { defineShipped } from '../module.ts';
import type { GraphTypes } from '../toolkit/builder.ts';
import type { NotFound, Send } from '../toolkit/mutation-run.ts';
import { type MutationOptions, type ResolvedInput, UNAPPLIED } from '../toolkit/mutations.ts';
import { isOlder, type Part, readOn } from '../types/composed-pages.ts';
import { defineInbox, FEEDS_ARG, type Feeds, type InboxBody, MAX } from '../types/inbox.ts';
import { declareMessageEndpoints, messages } from '../types/message.ts';
import { channelsOtherThan, isOfWorkflow } from '../types/preference.ts';
import type { Fields } from '../types/record-fields.ts';

/** Maximum messages to delete at once: each takes a call. */
const MAX_DELETED = 20;

type MarkBody = { markAs: MarkAs };

/** Mutation of an inbox: what those of it don't have in common. */
type Change<Args extends CallArgs, Body, Own extends InputFieldMap, Result> = Pick<
  MutationOptions<Args, Body, Own, object, 'subscriberId'>,
  'description' | 'endpoint' | 'extensions' | 'inputPath'
> & {
  fields: (t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>) => Own;
  /** The record that the service may not have. @default the subscriber */
  notFound?: NotFound<ResolvedInput<Own, 'subscriberId'>>;
  resolve: (input: ResolvedInput<Own, 'subscriberId'>, send: Send<Args, Body>, ctx: GatewayContext) => Promise<Result>;
  success: (t: Fields<Awaited<Result> & { inbox: InboxBody }>) => FieldMap;
};

/** Whether a call can have failed because of its ids: some services fail with 500 on one that can't be that of a record. */
const rejectsIds = (error: unknown): boolean =>
  isUpstreamError(error) && (error.status === 500 || error.code === 'BAD_USER_INPUT');

const isAbsent = (error: unknown): boolean => isUpstreamError(error) && error.code === 'NOT_FOUND';

/**
 * Makes one choice for all channels. Versions before November 2024 have a switch for that, which leaves the channels as they are; later ones accept it and
 * change nothing, so that each channel with another value is changed.
 *
 * @param before preference before the change. Only needed to switch on: only an earlier false shows that there is a switch
 * @param change sends the change of a switch
 * @param choose sends the changes of channels, at least one
 */
async function chooseForAll<Body extends PreferencesBody>(
  enabled: boolean,
  before: PreferencesBody | undefined,
  change: (body: { enabled: boolean }) => Promise<Body>,
  choose: (choices: ChannelChoiceBody[]) => Promise<Body | undefined>,
): Promise<{ preference: Body; unapplied: string[] }> {
  const sent = await change({ enabled });
  const hasSwitch = (enabled ? before : sent)?.preference?.enabled === false;
  const others = hasSwitch ? [] : channelsOtherThan(sent, enabled);
  const changed = others.length > 0 ? await choose(others.map((type) => ({ type, enabled }))) : undefined;
  const preference = changed ?? sent;
  const isKept = !hasSwitch && channelsOtherThan(preference, enabled).length > 0;
  return { preference, unapplied: isKept ? ['input.enabled'] : [] };
}

export default defineShipped('notigraph/modules/inbox', (toolkit) => {
  const { assertRange, builder, declareCalls, endpoint, mutation, SUBJECT, subjectOf, use } = toolkit;
  const { Channel } = use(messages);
  const { listMessages, removeMessage } = declareMessageEndpoints(toolkit);
  const { Inbox, ...types } = defineInbox(toolkit);
  const { InboxMessage, ChannelPreferences, WorkflowPreference, readPreferences, readGlobals, feedsOf } = types;

  const write = { idempotent: true } as const;
  const writeToValue = { ...write, expect: 'value' } as const;
  const writeToWorkflow = { ...write, recordIds: ['workflowId'] } as const;
  const recordIds = ['messageId'];

  // The service answers with every message that has one of the ids, whoever's it is, so nothing of the response is used.
  const mark = endpoint('POST /v1/subscribers/{subscriberId}/messages/mark-as', {
    ...write,
    expect: 'nothing',
    recordIds,
  }).takes<{ body: MarkBody & { messageId: readonly string[] } }>();
  const markAll = endpoint('POST /v1/subscribers/{subscriberId}/messages/mark-all', writeToValue)
    .takes<{ body: MarkBody & Feeds }>()
    .returns<number>();
  const complete = endpoint('POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{type}', {
    ...writeToValue,
    recordIds,
  })
    .takes<{ body: { status: 'done'; payload?: object | undefined } }>()
    .returns<MessageBody | undefined>();
  const updateOne = endpoint('PATCH /v1/subscribers/{subscriberId}/preferences/{workflowId}', writeToWorkflow)
    .takes<{ body: { enabled?: boolean; channel?: ChannelChoiceBody } }>()
    .returns<PreferenceBody>();
  const updateAll = endpoint('PATCH /v1/subscribers/{subscriberId}/preferences', write)
    .takes<{ body: { enabled?: boolean; preferences?: readonly ChannelChoiceBody[] } }>()
    .returns<PreferencesBody>();

  const MarkAs = builder.enumType('MarkAs', {
    description: 'A state of in-app messages.',
    values: {
      SEEN: { value: 'seen', description: 'The message was shown to the person.' },
      UNSEEN: { value: 'unseen', description: 'The message was not shown to the person.' },
      READ: { value: 'read', description: 'The person read the message. It is also seen.' },
      UNREAD: { value: 'unread', description: 'The person did not read the message. It is seen.' },
    } as const,
  });

  const ChannelPreferenceInput = builder.inputType('ChannelPreferenceInput', {
    description: 'Whether a person wants messages over a channel.',
    fields: (t) => ({
      channel: t.field({ type: Channel, required: true, description: 'The channel.' }),
      enabled: t.boolean({ required: true, description: 'Whether messages may be sent.' }),
    }),
  });

  /** Returns those of some messages that are in the inbox of a person. Reads them, newest first, as long as one can follow. */
  async function findOwn(subscriberId: string, ids: readonly string[], { upstream }: GatewayContext) {
    const read = async (page: number): Promise<Part<MessageBody>> => {
      const query = { page, limit: MAX, channel: 'in_app', subscriberId } as const;
      const { data = [], hasMore = true } = (await upstream.read(listMessages, { query })) ?? {};
      return { data, hasMore };
    };
    const isLate = ({ data }: Part<MessageBody>) => {
      const found = new Set(data.map((row) => row?._id));
      const last = data.at(-1)?._id;
      return ids.every((id) => found.has(id) || isOlder(last, id));
    };
    const { data } = await readOn(read, -1, isLate);
    return data.filter((row) => ids.includes(row?._id) && row.subscriber?.subscriberId === subscriberId);
  }

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
      resolve: async (input, send, ctx) => ({
        ...(await resolve(input, send, ctx)),
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
      return { messageIds, failedIds: isMixed ? odd : [], as };
    },
    success: (t) => ({
      messageIds: t.idList({ description: 'The ids that you sent.', resolve: ({ messageIds }) => messageIds }),
      failedIds: t.exposeIDList('failedIds', { description: 'Those that the service rejected. Others are marked.' }),
      messages: t.field({
        type: [InboxMessage],
        nullable: true,
        extensions: declareCalls(`1 per ${MAX} messages of the subscriber`, {
          endpoint: listMessages,
          reason: 'One if they are among the newest.',
        }),
        description: 'The marked messages that are in the inbox, with their new state. For caches of clients.',
        async resolve({ inbox: { subscriberId }, messageIds, as }, _args, ctx) {
          const state =
            as === 'read' || as === 'unread' ? { seen: true, read: as === 'read' } : { seen: as === 'seen' };
          return (await findOwn(subscriberId, messageIds, ctx)).map((row) => ({ ...row, ...state }));
        },
      }),
    }),
  });

  change('markAllMessages', {
    description: 'Marks all messages of the inbox, or those in some feeds.',
    endpoint: markAll,
    fields: (t) => ({
      as: t.field({ type: MarkAs, required: true, description: 'The new state.' }),
      feeds: t.stringList(FEEDS_ARG),
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
    notFound: { resource: 'Message', id: ({ messageId }) => messageId, byMessage: true, hidesOwner: true },
    inputPath: { type: 'button' },
    async resolve({ subscriberId, messageId, button, payload }, send) {
      const body = { status: 'done', payload: payload ?? undefined } as const;
      return { messageId, sent: await send({ subscriberId, messageId, type: button, body }) };
    },
    success: (t) => ({
      messageId: t.exposeID('messageId', { description: 'The id of the message.' }),
      inboxMessage: t.field({
        type: InboxMessage,
        nullable: true,
        description: 'The message with the button that was pressed. For caches of clients.',
        resolve: ({ sent, messageId }) => (isRecord(sent) && sent._id === messageId ? sent : null),
      }),
    }),
  });

  change('deleteInboxMessages', {
    description: `Deletes 1 to ${MAX_DELETED} messages. Ids of messages that are not in the inbox have no effect.`,
    extensions: declareCalls(`1 per message, and 1 per ${MAX} messages of the subscriber`, {
      endpoint: removeMessage,
      max: MAX_DELETED,
      reason: 'One per message.',
    }),
    endpoint: removeMessage,
    fields: (t) => ({ messageIds: t.idList({ required: true, description: 'The ids of the messages.' }) }),
    inputPath: { messageId: 'messageIds' },
    async resolve({ subscriberId, messageIds }, send, ctx) {
      assertRange('the number of messageIds', messageIds.length, 1, MAX_DELETED);
      const deletedIds = (await findOwn(subscriberId, messageIds, ctx)).map(({ _id }) => _id);
      // One that somebody deletes meanwhile is deleted too.
      const deletions = deletedIds.map((messageId) =>
        send({ messageId }).catch((error) => (isAbsent(error) ? null : Promise.reject(error))),
      );
      await Promise.all(deletions);
      return { deletedIds };
    },
    success: (t) => ({
      deletedIds: t.exposeIDList('deletedIds', { description: 'The ids of the messages that were in the inbox.' }),
    }),
  });

  change('updateWorkflowPreference', {
    description:
      'Changes whether the person wants messages of a workflow. A later change of the preferences for all workflows replaces it on the channels that it names. A critical workflow sends its messages all the same.',
    extensions: declareCalls('1 with a channel and an id, otherwise 1 per channel and 1 or 2 more', {
      endpoint: updateOne,
      max: 7,
      reason: 'One per channel, and one to find the workflow.',
    }),
    endpoint: updateOne,
    fields: (t) => ({
      workflowId: t.id({ required: true, description: "The workflow's id or identifier." }),
      channel: t.field({ type: Channel, description: 'The channel. Default: all channels of the workflow.' }),
      enabled: t.boolean({ required: true, description: 'Whether messages may be sent.' }),
    }),
    notFound: { resource: 'Workflow', id: ({ workflowId }) => workflowId },
    inputPath: (path) => (path.at(-1) === 'type' ? ['channel'] : path.slice(-1)), // The body has both in `channel`.
    async resolve({ subscriberId, workflowId: named, channel, enabled }, send, ctx) {
      const isRead = !isRecordId(named) || (channel == null && enabled);
      const before = isRead
        ? (await readPreferences(subscriberId, ctx)).find((each) => isOfWorkflow(each, named))
        : undefined;
      const workflowId = before?.template?._id ?? named;
      const change = (body: { enabled?: boolean; channel?: ChannelChoiceBody }) =>
        send({ subscriberId, workflowId, body });
      if (channel != null) {
        const preference = await change({ channel: { type: channel, enabled } });
        return {
          preference,
          unapplied: channelsOtherThan(preference, enabled).includes(channel) ? ['input.enabled'] : [],
        };
      }
      return chooseForAll(enabled, before, change, (choices) =>
        choices.reduce<Promise<PreferenceBody | undefined>>(
          (earlier, each) => earlier.then(() => change({ channel: each })),
          Promise.resolve(undefined),
        ),
      );
    },
    success: (t) => ({
      preference: t.field({
        type: WorkflowPreference,
        description: 'The changed preference.',
        resolve: ({ preference, inbox }) => ({ ...preference, ...inbox }),
      }),
      unapplied: t.exposeStringList('unapplied', { description: UNAPPLIED }),
    }),
  });

  change('updateGlobalPreferences', {
    description:
      "Changes the messages that the person wants to receive at all. Send only the channels that change: since November 2024, the service deletes the person's choices for workflows on each channel that is sent. What is omitted stays.",
    extensions: declareCalls('1, or up to 3 with `enabled` and without channels', {
      endpoint: updateAll,
      max: 3,
      reason: 'Without channels, two more at most.',
    }),
    endpoint: updateAll,
    fields: (t) => ({
      enabled: t.boolean({
        description:
          'Whether any messages may be sent. Without channels, versions since November 2024 change all channels that have another value. With channels, they ignore it.',
      }),
      channels: t.field({ type: [ChannelPreferenceInput], description: 'The channels to change.' }),
    }),
    inputPath: (path) => path.map((name) => (name === 'preferences' ? 'channels' : name === 'type' ? 'channel' : name)),
    async resolve({ subscriberId, enabled, channels }, send, ctx) {
      const change = (body: { enabled?: boolean; preferences?: ChannelChoiceBody[] }) => send({ subscriberId, body });
      if (enabled != null && channels == null) {
        const before = enabled ? await readGlobals(subscriberId, ctx) : undefined;
        return chooseForAll(enabled, before, change, (preferences) => change({ preferences }));
      }
      const choices = channels?.map((each) => ({ type: each.channel, enabled: each.enabled })) ?? [];
      const preference = await change({ ...(enabled != null && { enabled }), preferences: choices });
      const unapplied = choices.flatMap(({ type, enabled: value }, i) =>
        channelsOtherThan(preference, value).includes(type) ? [`input.channels.${i}.enabled`] : [],
      );
      const isIgnored = enabled != null && preference.preference?.enabled !== enabled;
      return { preference, unapplied: [...(isIgnored ? ['input.enabled'] : []), ...unapplied] };
    },
    success: (t) => ({
      preferences: t.field({
        type: ChannelPreferences,
        description: 'The changed preferences.',
        resolve: ({ preference, inbox }) => ({ ...preference, ...inbox }),
      }),
      unapplied: t.exposeStringList('unapplied', { description: UNAPPLIED }),
    }),
  });

  return { Inbox, InboxMessage };
});
