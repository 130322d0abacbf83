// Records with all fields that the contract requires, for scripted upstreams.

import type {
  FeedBody,
  MessageBody,
  NotificationGroupBody,
  SubscriberBody,
  WorkflowBody,
} from '../../src/upstream/endpoints.ts';

const OWNER = { _organizationId: 'org', _environmentId: 'env' };

export const workflow = (fields: Partial<WorkflowBody> = {}): WorkflowBody => ({
  _id: 'w1',
  name: 'Workflow',
  active: true,
  draft: false,
  critical: false,
  preferenceSettings: { email: true, in_app: false },
  tags: [],
  steps: [],
  triggers: [],
  _creatorId: 'creator',
  _notificationGroupId: 'g1',
  deleted: false,
  ...OWNER,
  ...fields,
});

export const group = (fields: Partial<NotificationGroupBody> = {}): NotificationGroupBody => ({
  _id: 'g1',
  name: 'Group',
  ...OWNER,
  ...fields,
});

export const feed = (fields: Partial<FeedBody> = {}): FeedBody => ({
  _id: 'f1',
  name: 'Feed',
  identifier: 'Feed',
  ...OWNER,
  ...fields,
});

export const message = (fields: Partial<MessageBody> = {}): MessageBody => ({
  _id: 'm1',
  _subscriberId: 's1',
  transactionId: 't1',
  channel: 'in_app',
  seen: false,
  read: false,
  createdAt: '2026-01-02T00:00:00.000Z',
  ...OWNER,
  ...fields,
});

export const subscriber = (fields: Partial<SubscriberBody> = {}): SubscriberBody => ({
  _id: 's1',
  subscriberId: 'user-1',
  deleted: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...OWNER,
  ...fields,
});
