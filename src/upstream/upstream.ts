import type { UpstreamClient } from './client.ts';
import * as feeds from './resources/feeds.ts';
import * as messages from './resources/messages.ts';
import * as notificationGroups from './resources/notification-groups.ts';
import * as stats from './resources/stats.ts';
import * as subscribers from './resources/subscribers.ts';
import * as workflows from './resources/workflows.ts';

/** Leaves out the first parameter, which is bound here. */
type Bound<F> = F extends (client: UpstreamClient, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

const endpoints = { ...workflows, ...subscribers, ...notificationGroups, ...feeds, ...messages, ...stats };

/** The twelve endpoints of the service, as one caller reaches them. */
export type Upstream = { readonly [Name in keyof typeof endpoints]: Bound<(typeof endpoints)[Name]> };

/** Binds the endpoints to one caller's client. */
export const bindUpstream = (client: UpstreamClient): Upstream => ({
  getWorkflow: (idOrIdentifier) => workflows.getWorkflow(client, idOrIdentifier),
  updateWorkflowStatus: (workflowId, active) => workflows.updateWorkflowStatus(client, workflowId, active),
  createSubscriber: (fields, key, isBulkItem) => subscribers.createSubscriber(client, fields, key, isBulkItem),
  getNotificationGroup: (id) => notificationGroups.getNotificationGroup(client, id),
  listNotificationGroups: () => notificationGroups.listNotificationGroups(client),
  createNotificationGroup: (name, key) => notificationGroups.createNotificationGroup(client, name, key),
  updateNotificationGroup: (id, name, key) => notificationGroups.updateNotificationGroup(client, id, name, key),
  deleteNotificationGroup: (id) => notificationGroups.deleteNotificationGroup(client, id),
  createFeed: (name, key) => feeds.createFeed(client, name, key),
  deleteFeed: (feedId) => feeds.deleteFeed(client, feedId),
  deleteMessagesByTransaction: (transactionId, channel) =>
    messages.deleteMessagesByTransaction(client, transactionId, channel),
  getNotificationStats: (days) => stats.getNotificationStats(client, days),
});
