import type { Environment } from '../environments.ts';
import type { Channel, SubscriberRecord } from './records.ts';

/** Records of one environment as the resources write them: complete, with ids. */
export interface RecordRows {
  environment: Environment;
  notificationGroups: readonly NamedRow[];
  feeds: readonly NamedRow[];
  workflows: readonly WorkflowRow[];
  subscribers: readonly SubscriberRow[];
  /** Notifications, with their messages. */
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

/** Notification. It has a message on each of its channels. */
export interface NotificationRow {
  id: string;
  /** Empty for messages that tests add, which no statistics count. */
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}
