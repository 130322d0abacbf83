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

export interface NamedRow {
  id: string;
  name: string;
}

export interface WorkflowRow {
  id: string;
  identifier: string;
  active: boolean;
  updatedAt: string;
  /** JSON object as the service returns it, without `active`, `draft` and `updatedAt`. */
  document: object;
}

export type SubscriberRow = SubscriberRecord & { id: string; createdAt: string };

export interface MessageRow {
  id: string;
  notificationId: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channel: Channel;
  createdAt: string;
}

export interface NotificationRow {
  id: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}
