import type { Environment } from '../environments.ts';
import type { Channel, SubscriberRecord } from './records.ts';

/** Records of one environment as the resources write them: complete, with ids. */
export interface RecordRows {
  environment: Environment;
  notificationGroups: readonly NamedRow[];
  feeds: readonly NamedRow[];
  workflows: readonly WorkflowRow[];
  subscribers: readonly SubscriberRow[];
  messages: readonly MessageRow[];
  /** Notifications, which the statistics count. */
  notifications: readonly NotificationRow[];
}

/** Notification group or feed. */
export interface NamedRow {
  id: string;
  name: string;
}

/** Workflow. */
export interface WorkflowRow {
  id: string;
  identifier: string;
  active: boolean;
  updatedAt: string;
  /** JSON object as the service returns it, without `active`, `draft` and `updatedAt`. */
  document: object;
}

/** Subscriber. */
export type SubscriberRow = SubscriberRecord & { id: string; createdAt: string };

/** Message over one channel. */
export interface MessageRow {
  id: string;
  notificationId: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channel: Channel;
  createdAt: string;
}

/** Notification, with the channels over which it was sent. */
export interface NotificationRow {
  id: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}
