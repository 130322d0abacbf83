// Declares the endpoints of the contract, and the bodies of their requests and responses.

import type { components } from './contract/openapi.gen.ts';
import { type DeclaredEndpoint, endpoint } from './endpoint.ts';

type Schemas = components['schemas'];

export type FeedBody = Schemas['Feed'];
export type ChannelName = Schemas['Channel'];
export type MessageBody = Schemas['Message'];
export type NotificationGroupBody = Schemas['NotificationGroup'];
type DeletionBody = Schemas['DeletionAcknowledgement'];
export type StatsEntryBody = Schemas['StatisticsEntry'];
export type SubscriberBody = Schemas['Subscriber'];
/** Fields of a subscriber to create or update. An absent field keeps its value, and null clears it. */
export type SubscriberFields = { subscriberId: string } & {
  [Field in keyof Schemas['CreateSubscriber']]: Schemas['CreateSubscriber'][Field] | undefined;
};
export type WorkflowBody = Schemas['Workflow'];
export type StepBody = Schemas['Step'];
export type StepTemplateBody = Schemas['StepTemplate'];
export type TriggerBody = Schemas['Trigger'];
export type MessageCountBody = Schemas['MessageCount'];
export type PreferencesBody = Schemas['GlobalPreference'];
export type PreferenceBody = Schemas['WorkflowPreference'];
export type ChannelChoiceBody = Schemas['ChannelChoice'];
export type MarkAs = Schemas['MarkAs'];
export type SentTopic = Schemas['Topic'];
export type CreatedTopicBody = Schemas['CreatedTopic'];
export type EventBody = Schemas['Event'];

// The contract lets `_id` be absent. What a record then has for certain is the environment that it belongs to.
const RECORD = ['_id', 'id', '_environmentId'];
const FEED = ['_id', 'identifier'];
const NAME = { confirms: ['name'] };
const GROUP = { identifiedBy: RECORD, recordIds: ['id'] };
const GROUP_WRITE = { idempotent: true, identifiedBy: RECORD, ...NAME };
const GROUP_READ = { resource: 'notificationGroups', kind: 'workflows' }; // Workflows embed their group.

/** Creates a feed. The service rejects an existing name with 409. */
export const createFeed = endpoint('POST /v1/feeds', { idempotent: true, identifiedBy: FEED, ...NAME })
  .takes<{ body: { name: string } }>()
  .returns<FeedBody>();

/** Deletes a feed. The contract's service returns the remaining ones; others return the deleted feed, or nothing. */
export const deleteFeed = endpoint('DELETE /v1/feeds/{feedId}', {
  expect: 'value',
  identifiedBy: FEED,
  recordIds: ['feedId'],
}).returns<FeedBody[] | FeedBody | undefined>();

/** Deletes all messages of a transaction, or those of one channel. A successful response has no body; if one is sent, it is ignored. */
export const deleteMessagesByTransaction = endpoint('DELETE /v1/messages/transaction/{transactionId}', {
  expect: 'nothing',
  empties: ['statistics'],
}).takes<{ query: { channel?: ChannelName } }>();

export const getNotificationGroup = endpoint('GET /v1/notification-groups/{id}', {
  ...GROUP,
  cached: GROUP_READ,
}).returns<NotificationGroupBody>();

/** Returns all groups. The service has no pagination. */
export const listNotificationGroups = endpoint('GET /v1/notification-groups', {
  expect: 'list',
  identifiedBy: RECORD,
  cached: GROUP_READ,
}).returns<NotificationGroupBody[]>();

export const createNotificationGroup = endpoint('POST /v1/notification-groups', GROUP_WRITE)
  .takes<{ body: { name: string } }>()
  .returns<NotificationGroupBody>();

export const updateNotificationGroup = endpoint('PATCH /v1/notification-groups/{id}', { ...GROUP_WRITE, ...GROUP })
  .takes<{ body: { name: string } }>()
  .returns<NotificationGroupBody>();

/** Deletes a group. Some services return the deleted group or nothing instead of an acknowledgement. */
export const deleteNotificationGroup = endpoint('DELETE /v1/notification-groups/{id}', {
  expect: 'value',
  recordIds: ['id'],
}).returns<Partial<DeletionBody> | undefined>();

/** Returns statistics per day, in no particular order and without days that had no traffic. If `days` is undefined, the service chooses the period. */
export const getNotificationStats = endpoint('GET /v1/notifications/graph/stats', {
  expect: 'list',
  identifiedBy: ['_id'],
  cached: { resource: 'statistics' },
})
  .takes<{ query: { days?: number } }>()
  .returns<StatsEntryBody[]>();

/** Creates or updates several subscribers. Unlike `createSubscriber`, it brings back those whose deletion was soft, and stores channels as they are. */
export const createSubscribers = endpoint('POST /v1/subscribers/bulk', { expect: 'value', repeatable: true });

/** Creates a subscriber, or updates the one with the same `subscriberId`. */
export const createSubscriber = {
  ...endpoint('POST /v1/subscribers', { idempotent: true, clears: true, identifiedBy: ['subscriberId'] })
    .takes<{ body: SubscriberFields }>()
    .returns<SubscriberBody>(),
  upsert: { storedLast: 'channels', restore: createSubscribers, list: 'subscribers' },
};

export const getWorkflow = endpoint('GET /v1/workflows/{workflowIdOrIdentifier}', {
  identifiedBy: RECORD,
  cached: { resource: 'workflows' },
}).returns<WorkflowBody>();

/** Activates or deactivates a workflow by id. Some services reject this with 400 if the workflow is already in that state. */
export const updateWorkflowStatus = endpoint('PUT /v1/workflows/{workflowId}/status', {
  repeatable: true,
  identifiedBy: RECORD,
  recordIds: ['workflowId'],
  confirms: ['active'],
})
  .takes<{ body: { active: boolean } }>()
  .returns<WorkflowBody>();

/** Read with which an API key is tried. Never from the cache, whose response may be older than a revocation. */
export const readToTryKey = { ...listNotificationGroups, cached: undefined };

export const CONTRACT: readonly DeclaredEndpoint[] = [
  createNotificationGroup,
  updateNotificationGroup,
  deleteNotificationGroup,
  updateWorkflowStatus,
  deleteMessagesByTransaction,
  createSubscriber,
  createFeed,
  deleteFeed,
  getNotificationGroup,
  listNotificationGroups,
  getNotificationStats,
  getWorkflow,
];
