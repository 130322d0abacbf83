// Records as the samples and tests write them.

export const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const;

export type Channel = (typeof CHANNELS)[number];

export const isChannel = (value: unknown): value is Channel => CHANNELS.some((channel) => channel === value);

/** Records of one environment. Most members have defaults, and ids follow from names, so that they are the same in every run. */
export interface Records {
  notificationGroups?: readonly NamedRecord[];
  feeds?: readonly NamedRecord[];
  workflows?: readonly WorkflowRecord[];
  subscribers?: readonly SubscriberRecord[];
  messages?: readonly TransactionRecord[];
  statistics?: readonly DayRecord[];
}

/** Name of a notification group or feed, optionally with its id. */
export type NamedRecord = string | { id?: string; name: string };

export interface WorkflowRecord {
  id?: string;
  identifier: string;
  /** @default the identifier */
  name?: string;
  /** @default none */
  description?: string;
  /** Name or id of its notification group. @default none: the group is null */
  group?: string;
  /** @default [] */
  tags?: readonly string[];
  /** @default true */
  active?: boolean;
  /** @default false */
  critical?: boolean;
  /** @default the current time */
  createdAt?: string;
  /** @default the current time */
  updatedAt?: string;
  /** @default [] */
  steps?: readonly StepRecord[];
  /** Channels that are enabled by default. @default all */
  preferred?: readonly Channel[];
  /** @default none */
  data?: Record<string, unknown>;
}

export interface StepRecord {
  /** @default the type */
  name?: string;
  type: Channel | 'digest' | 'delay';
  subject?: string;
  /** Text with placeholders such as `{{name}}`, or the blocks of an email. */
  content?: string | readonly Record<string, unknown>[];
  /** Other members of the template, such as `preheader`. */
  template?: Record<string, unknown>;
  /** Name or id of the in-app feed. */
  feed?: string;
  metadata?: Record<string, unknown>;
  filters?: readonly FilterRecord[];
  /** @default true */
  active?: boolean;
  /** @default false */
  shouldStopOnFail?: boolean;
  replyCallback?: Record<string, unknown>;
}

/** Conditions under which a step runs. */
export interface FilterRecord {
  value: 'AND' | 'OR';
  /** Comparisons, such as `{ field: 'plan', value: 'team', operator: 'EQUAL', on: 'subscriber' }`, or conditions of another kind. */
  children: readonly Record<string, unknown>[];
}

/** Person or system that receives notifications. */
export interface SubscriberRecord {
  id?: string;
  subscriberId: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  avatar?: string;
  locale?: string;
  data?: Record<string, unknown>;
  channels?: readonly Record<string, unknown>[];
  /** @default the current time */
  createdAt?: string;
}

/** Messages of one transaction to one subscriber. The statistics don't count them. */
export interface TransactionRecord {
  transactionId: string;
  /** Channels of the messages, one each. Those on `in_app` are in the inbox of the subscriber. @default ['email'] */
  channels?: readonly Channel[];
  /** Id of the message on the first channel. */
  id?: string;
  /** Recipient. @default none */
  subscriberId?: string;
  /** Identifier or id of the workflow, whose steps have the content. @default none */
  workflow?: string;
  /** @default that of the workflow's step, with the payload */
  content?: string;
  /** @default {} */
  payload?: Record<string, unknown>;
  /** @default false */
  seen?: boolean;
  /** @default false */
  read?: boolean;
  /** @default the current time */
  createdAt?: string;
}

/** Messages of a transaction. Those of the sample have an age, and can have a severity, as those of workflows of the new dashboard. */
export type MessageRecord = TransactionRecord & { hoursAgo?: number; severity?: string };

/** Records of the sample or of tests. */
export type AllRecords = Omit<Records, 'messages'> & { messages?: readonly MessageRecord[] };

/** Statistics of one day. Its notifications have the transactions `YYYY-MM-DD-0`, `YYYY-MM-DD-1` and so on, with a message per channel. */
export interface DayRecord {
  /** UTC day, `YYYY-MM-DD`. */
  date: string;
  /** Identifiers or ids of the workflows that sent notifications. @default [] */
  workflows?: readonly string[];
  /** Number of notifications, at least one per workflow. Statistics count each once per channel. @default one per workflow, or one */
  count?: number;
  /** @default ['email'] */
  channels?: readonly Channel[];
}

/** Notification as it is stored. */
export interface NotificationRecord {
  id: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}
