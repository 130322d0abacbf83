// Response bodies of the service, only with the fields that the workloads use.

/** Workflow. */
export interface Workflow {
  _id: string;
  name: string;
  active: boolean;
  tags: string[];
  steps: Step[];
  _notificationGroupId: string;
}

/** Step of a workflow. */
export interface Step {
  name: string;
  active: boolean;
  template: StepTemplate;
}

/** Template of a step. */
export interface StepTemplate {
  type: string;
  content: string;
  subject: string;
}

/** Notification group. */
export interface NotificationGroup {
  _id: string;
  name: string;
}

/** Name of a channel. */
export type Channel = 'in_app' | 'email' | 'sms' | 'chat' | 'push';

/** Statistics of one day. */
export interface StatisticsEntry {
  _id: string;
  count: number;
  channels: Channel[];
  templates: string[];
}

/** Subscriber. */
export interface Subscriber {
  subscriberId: string;
}

/** Fields of a subscriber to create. */
export interface NewSubscriber {
  subscriberId: string;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  email?: string | null | undefined;
}

/** Envelope of nearly every body. */
export interface Envelope<T> {
  data: T;
}
