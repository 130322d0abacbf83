import type { NewSubscriber, NotificationGroup, StatisticsEntry, Subscriber, Workflow } from '../upstream.ts';
import type { NotificationsAPI } from './data-source.ts';

/** GraphQL context. */
export interface Context {
  dataSources: { notifications: NotificationsAPI };
}

/** Part of Notigraph's schema that the workloads use. */
export const typeDefs = /* GraphQL */ `
  enum Channel { IN_APP EMAIL SMS CHAT PUSH }
  type StepTemplate { type: String! content: String! subject: String! }
  type Step { name: String! active: Boolean! template: StepTemplate! }
  type NotificationGroup { id: ID! name: String! }
  type Workflow {
    id: ID!
    name: String!
    active: Boolean!
    tags: [String!]!
    steps: [Step!]!
    notificationGroup: NotificationGroup!
  }
  type NotificationStatsEntry {
    date: String!
    count: Int!
    channels: [Channel!]!
    workflows(first: Int): [Workflow!]!
  }
  type Query {
    workflow(idOrIdentifier: ID!): Workflow!
    workflows(idsOrIdentifiers: [ID!]!): [Workflow!]!
    notificationGroups: [NotificationGroup!]!
    notificationStats(days: Int!): [NotificationStatsEntry!]!
  }

  input CreateNotificationGroupInput { name: String! }
  type CreateNotificationGroupSuccess { notificationGroup: NotificationGroup! }
  input CreateSubscriberInput { subscriberId: String! firstName: String lastName: String email: String }
  input CreateSubscribersInput { subscribers: [CreateSubscriberInput!]! }
  type Subscriber { subscriberId: ID! }
  type CreateSubscriberSuccess { subscriber: Subscriber! }
  type CreateSubscribersPayload { succeeded: Int! results: [CreateSubscriberSuccess!]! }
  type Mutation {
    createNotificationGroup(input: CreateNotificationGroupInput!): CreateNotificationGroupSuccess!
    createSubscribers(input: CreateSubscribersInput!): CreateSubscribersPayload!
  }
`;

/** Resolvers of the schema. */
export const resolvers = {
  Channel: { IN_APP: 'in_app', EMAIL: 'email', SMS: 'sms', CHAT: 'chat', PUSH: 'push' },
  Workflow: {
    id: ({ _id }: Workflow) => _id,
    notificationGroup: ({ _notificationGroupId }: Workflow, _args: unknown, { dataSources }: Context) =>
      dataSources.notifications.getNotificationGroup(_notificationGroupId),
  },
  NotificationGroup: {
    id: ({ _id }: NotificationGroup) => _id,
  },
  NotificationStatsEntry: {
    date: ({ _id }: StatisticsEntry) => _id,
    workflows: ({ templates }: StatisticsEntry, { first }: { first?: number | null }, { dataSources }: Context) =>
      templates.slice(0, first ?? undefined).map((id) => dataSources.notifications.getWorkflow(id)),
  },
  Query: {
    workflow: (_root: unknown, { idOrIdentifier }: { idOrIdentifier: string }, { dataSources }: Context) =>
      dataSources.notifications.getWorkflow(idOrIdentifier),
    workflows: (_root: unknown, { idsOrIdentifiers }: { idsOrIdentifiers: string[] }, { dataSources }: Context) =>
      idsOrIdentifiers.map((id) => dataSources.notifications.getWorkflow(id)),
    notificationGroups: (_root: unknown, _args: unknown, { dataSources }: Context) =>
      dataSources.notifications.listNotificationGroups(),
    notificationStats: async (_root: unknown, { days }: { days: number }, { dataSources }: Context) =>
      (await dataSources.notifications.getStatistics(days)).sort((a, b) => (a._id < b._id ? -1 : 1)),
  },
  Mutation: {
    createNotificationGroup: async (
      _root: unknown,
      { input }: { input: { name: string } },
      { dataSources }: Context,
    ) => ({ notificationGroup: await dataSources.notifications.createNotificationGroup(input.name) }),
    createSubscribers: async (
      _root: unknown,
      { input }: { input: { subscribers: NewSubscriber[] } },
      { dataSources }: Context,
    ) => {
      const results: { subscriber: Subscriber }[] = await Promise.all(
        input.subscribers.map(async (subscriber) => ({
          subscriber: await dataSources.notifications.createSubscriber(subscriber),
        })),
      );
      return { succeeded: results.length, results };
    },
  },
};
