// Records of the service, only with the fields that the workloads use, and the calls that servers make.

/** Workflow. */
export interface Workflow {
  _id: string;
  name: string;
  active: boolean;
  tags: string[];
  steps: { name: string; active: boolean; template: { type: string; content: string; subject: string } }[];
  _notificationGroupId: string;
}

/** Notification group. */
export interface NotificationGroup {
  _id: string;
  name: string;
}

/** Statistics of one day. */
export interface StatisticsEntry {
  _id: string;
  count: number;
  channels: string[];
  templates: string[];
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

/** Calls to the service on behalf of one request. */
export interface Service {
  getWorkflow(id: string): Promise<Workflow>;
  getNotificationGroup(id: string): Promise<NotificationGroup | undefined>;
  listNotificationGroups(): Promise<NotificationGroup[]>;
  getStatistics(days: number): Promise<StatisticsEntry[]>;
  createNotificationGroup(name: string): Promise<NotificationGroup>;
  createSubscriber(subscriber: NewSubscriber): Promise<{ subscriberId: string }>;
}
