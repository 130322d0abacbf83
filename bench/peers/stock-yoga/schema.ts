import SchemaBuilder from '@pothos/core';
import type { NotificationGroup, StatisticsEntry, Step, StepTemplate, Subscriber, Workflow } from '../upstream.ts';
import type { Context } from './context.ts';

const builder = new SchemaBuilder<{ Context: Context; DefaultFieldNullability: false }>({
  defaultFieldNullability: false,
});

const ChannelRef = builder.enumType('Channel', {
  values: {
    IN_APP: { value: 'in_app' },
    EMAIL: { value: 'email' },
    SMS: { value: 'sms' },
    CHAT: { value: 'chat' },
    PUSH: { value: 'push' },
  },
});

const StepTemplateRef = builder.objectRef<StepTemplate>('StepTemplate').implement({
  fields: (t) => ({
    type: t.exposeString('type'),
    content: t.exposeString('content'),
    subject: t.exposeString('subject'),
  }),
});

const StepRef = builder.objectRef<Step>('Step').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    active: t.exposeBoolean('active'),
    template: t.expose('template', { type: StepTemplateRef }),
  }),
});

const NotificationGroupRef = builder.objectRef<NotificationGroup>('NotificationGroup').implement({
  fields: (t) => ({
    id: t.exposeID('_id'),
    name: t.exposeString('name'),
  }),
});

const WorkflowRef = builder.objectRef<Workflow>('Workflow').implement({
  fields: (t) => ({
    id: t.exposeID('_id'),
    name: t.exposeString('name'),
    active: t.exposeBoolean('active'),
    tags: t.exposeStringList('tags'),
    steps: t.expose('steps', { type: [StepRef] }),
    notificationGroup: t.field({
      type: NotificationGroupRef,
      resolve: ({ _notificationGroupId }, _args, { notificationGroups }) =>
        notificationGroups.load(_notificationGroupId),
    }),
  }),
});

const StatisticsEntryRef = builder.objectRef<StatisticsEntry>('NotificationStatsEntry').implement({
  fields: (t) => ({
    date: t.exposeString('_id'),
    count: t.exposeInt('count'),
    channels: t.expose('channels', { type: [ChannelRef] }),
    workflows: t.field({
      type: [WorkflowRef],
      args: { first: t.arg.int() },
      resolve: ({ templates }, { first }, { workflows }) =>
        Promise.all(templates.slice(0, first ?? undefined).map((id) => workflows.load(id))),
    }),
  }),
});

builder.queryType({
  fields: (t) => ({
    workflow: t.field({
      type: WorkflowRef,
      args: { idOrIdentifier: t.arg.id({ required: true }) },
      resolve: (_root, { idOrIdentifier }, { workflows }) => workflows.load(idOrIdentifier),
    }),
    workflows: t.field({
      type: [WorkflowRef],
      args: { idsOrIdentifiers: t.arg.idList({ required: true }) },
      resolve: (_root, { idsOrIdentifiers }, { workflows }) =>
        Promise.all(idsOrIdentifiers.map((id) => workflows.load(id))),
    }),
    notificationGroups: t.field({
      type: [NotificationGroupRef],
      resolve: (_root, _args, { listNotificationGroups }) => listNotificationGroups(),
    }),
    notificationStats: t.field({
      type: [StatisticsEntryRef],
      args: { days: t.arg.int({ required: true }) },
      resolve: async (_root, { days }, { getStatistics }) =>
        (await getStatistics(days)).sort((a, b) => (a._id < b._id ? -1 : 1)),
    }),
  }),
});

const CreateNotificationGroupInput = builder.inputType('CreateNotificationGroupInput', {
  fields: (t) => ({ name: t.string({ required: true }) }),
});

const CreateNotificationGroupSuccessRef = builder
  .objectRef<{ notificationGroup: NotificationGroup }>('CreateNotificationGroupSuccess')
  .implement({ fields: (t) => ({ notificationGroup: t.expose('notificationGroup', { type: NotificationGroupRef }) }) });

const SubscriberRef = builder.objectRef<Subscriber>('Subscriber').implement({
  fields: (t) => ({ subscriberId: t.exposeID('subscriberId') }),
});

const CreateSubscriberInput = builder.inputType('CreateSubscriberInput', {
  fields: (t) => ({
    subscriberId: t.string({ required: true }),
    firstName: t.string(),
    lastName: t.string(),
    email: t.string(),
  }),
});

const CreateSubscribersInput = builder.inputType('CreateSubscribersInput', {
  fields: (t) => ({ subscribers: t.field({ type: [CreateSubscriberInput], required: true }) }),
});

const CreateSubscriberSuccessRef = builder
  .objectRef<{ subscriber: Subscriber }>('CreateSubscriberSuccess')
  .implement({ fields: (t) => ({ subscriber: t.expose('subscriber', { type: SubscriberRef }) }) });

const CreateSubscribersPayloadRef = builder
  .objectRef<{ subscriber: Subscriber }[]>('CreateSubscribersPayload')
  .implement({
    fields: (t) => ({
      succeeded: t.int({ resolve: (results) => results.length }),
      results: t.field({ type: [CreateSubscriberSuccessRef], resolve: (results) => results }),
    }),
  });

builder.mutationType({
  fields: (t) => ({
    createNotificationGroup: t.field({
      type: CreateNotificationGroupSuccessRef,
      args: { input: t.arg({ type: CreateNotificationGroupInput, required: true }) },
      resolve: async (_root, { input }, { createNotificationGroup }) => ({
        notificationGroup: await createNotificationGroup(input.name),
      }),
    }),
    createSubscribers: t.field({
      type: CreateSubscribersPayloadRef,
      args: { input: t.arg({ type: CreateSubscribersInput, required: true }) },
      resolve: (_root, { input }, { createSubscriber }) =>
        Promise.all(input.subscribers.map(async (subscriber) => ({ subscriber: await createSubscriber(subscriber) }))),
    }),
  }),
});

/** Part of Notigraph's schema that the workloads use. */
export const schema = builder.toSchema();
