/** What the service answers, as far as the workloads ask for it. */

export interface Workflow {
  _id: string;
  name: string;
  active: boolean;
  tags: string[];
  steps: Step[];
  _notificationGroupId: string;
}

export interface Step {
  name: string;
  active: boolean;
  template: StepTemplate;
}

export interface StepTemplate {
  type: string;
  content: string;
  subject: string;
}

export interface NotificationGroup {
  _id: string;
  name: string;
}

export type Channel = 'in_app' | 'email' | 'sms' | 'chat' | 'push';

export interface StatisticsEntry {
  _id: string;
  count: number;
  channels: Channel[];
  templates: string[];
}

export interface Subscriber {
  subscriberId: string;
}

export interface NewSubscriber {
  subscriberId: string;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  email?: string | null | undefined;
}

/** Nearly every body is wrapped like this. */
export interface Envelope<T> {
  data: T;
}
