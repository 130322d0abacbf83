// Defines the schema of the peers whose servers are written here, and its resolvers.

import type { NewSubscriber, NotificationGroup, Service, StatisticsEntry, Workflow } from '../upstream/records.ts';

/** GraphQL context. */
export interface Context {
  service: Service;
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
    notificationGroup: ({ _notificationGroupId }: Workflow, _args: unknown, { service }: Context) =>
      service.getNotificationGroup(_notificationGroupId),
  },
  NotificationGroup: {
    id: ({ _id }: NotificationGroup) => _id,
  },
  NotificationStatsEntry: {
    date: ({ _id }: StatisticsEntry) => _id,
    workflows: ({ templates }: StatisticsEntry, { first }: { first?: number | null }, { service }: Context) =>
      templates.slice(0, first ?? undefined).map((id) => service.getWorkflow(id)),
  },
  Query: {
    workflow: (_root: unknown, { idOrIdentifier }: { idOrIdentifier: string }, { service }: Context) =>
      service.getWorkflow(idOrIdentifier),
    workflows: (_root: unknown, { idsOrIdentifiers }: { idsOrIdentifiers: string[] }, { service }: Context) =>
      idsOrIdentifiers.map((id) => service.getWorkflow(id)),
    notificationGroups: (_root: unknown, _args: unknown, { service }: Context) => service.listNotificationGroups(),
    notificationStats: async (_root: unknown, { days }: { days: number }, { service }: Context) =>
      (await service.getStatistics(days)).sort((a, b) => (a._id < b._id ? -1 : 1)),
  },
  Mutation: {
    createNotificationGroup: async (_root: unknown, { input }: { input: { name: string } }, { service }: Context) => ({
      notificationGroup: await service.createNotificationGroup(input.name),
    }),
    createSubscribers: async (
      _root: unknown,
      { input }: { input: { subscribers: NewSubscriber[] } },
      { service }: Context,
    ) => {
      const results = await Promise.all(
        input.subscribers.map(async (subscriber) => ({ subscriber: await service.createSubscriber(subscriber) })),
      );
      return { succeeded: results.length, results };
    },
  },
};
