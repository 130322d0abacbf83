// What each operation gives and sends, in success and in the usual failures, on every implementation of the service.

import { expect } from 'vitest';
import type { operations } from '../support/operations.ts';
import type { Caller } from './implementations.ts';

/** One operation, what it gives, and what it sends. Names in braces stand for values of the run, such as ids that earlier operations kept. */
export interface Case {
  /** Such as `a name that exists`. */
  of: string;
  run: keyof typeof operations;
  input?: object;
  variables?: object;
  /** @default development */
  as?: Caller;
  /** Members of the result, or the result if it is no object. */
  gives: object | null;
  /** Requests with their statuses. */
  sends: readonly string[];
  /** Paths of values of the result that later operations name. */
  keep?: Readonly<Record<string, string>>;
}

/** An id that the service could have given, but hasn't. */
const ID = '{unknownId}';

const [NOT_FOUND, INVALID, REJECTED] = [
  { code: 'NOT_FOUND' },
  { code: 'INVALID_INPUT' },
  { codes: ['UPSTREAM_ERROR'] }, // An id of a wrong form, where the service has no check.
];
const UNAUTHENTICATED = { codes: ['UNAUTHENTICATED'] };
const BAD_USER_INPUT = { codes: ['BAD_USER_INPUT'] };

const [GROUPS, FEEDS, TOPICS, SUBSCRIBERS, WORKFLOWS] = [
  '/v1/notification-groups',
  '/v1/feeds',
  '/v1/topics',
  '/v1/subscribers',
  '/v1/workflows',
];
const ADA = `${SUBSCRIBERS}/{run}-ada`;
const NOBODY = `${SUBSCRIBERS}/{run}-nobody`;
const TRIGGER = 'POST /v1/events/trigger';

/** Body of an event, as the gateway sends it. */
const event = (name: string, transactionId: string) =>
  `{"name":"${name}","to":["{run}-ada"],"payload":{"name":"Ann"},"transactionId":"${transactionId}"}`;

const trigger = (workflow: string, transactionId: string) => ({
  event: { workflow, subscriberIds: ['{run}-ada'], payload: { name: 'Ann' }, transactionId },
});

/**
 * All cases by noun, in the order in which they are run.
 *
 * @param invalid status of the version for invalid input: 422, before 3.0 400
 */
export const casesOf = (invalid: number): Readonly<Record<string, readonly Case[]>> => ({
  workflows: [
    {
      of: 'an identifier',
      run: 'Workflow',
      variables: { idOrIdentifier: '{run}-full' },
      gives: { identifier: '{run}-full', notificationGroup: { name: '{run} group' } },
      sends: [`GET ${WORKFLOWS}/{run}-full 200`, `GET ${GROUPS}/{group} 200`],
      keep: { workflow: 'id', group: 'notificationGroup.id' },
    },
    {
      of: 'an id of the other environment',
      run: 'Workflow',
      variables: { idOrIdentifier: '{workflow}' },
      as: 'production',
      gives: null,
      sends: [`GET ${WORKFLOWS}/{workflow} 404`],
    },
    {
      of: 'a wrong key',
      run: 'Workflow',
      variables: { idOrIdentifier: '{workflow}' },
      as: 'unknown',
      gives: UNAUTHENTICATED,
      sends: [`GET ${WORKFLOWS}/{workflow} 401`],
    },
    {
      of: 'several ids, one of them unknown',
      run: 'Workflows',
      variables: { idsOrIdentifiers: ['{run}-plain', ID] },
      gives: [{ identifier: '{run}-plain' }, null],
      sends: [`GET ${GROUPS}/{group} 200`, `GET ${WORKFLOWS}/{run}-plain 200`, `GET ${WORKFLOWS}/${ID} 404`],
    },
    {
      of: 'the second page',
      run: 'WorkflowPage',
      variables: { query: '{run}', limit: 4, page: 1 },
      gives: { page: 1, totalCount: 6, workflows: [{ identifier: '{run}-plain' }, { identifier: '{run}-full' }] },
      sends: [`GET ${WORKFLOWS}?page=1&limit=4&query={run} 200`],
    },
    {
      of: 'no match',
      run: 'WorkflowPage',
      variables: { query: '{run}-none' },
      gives: { totalCount: 0, workflows: [] },
      sends: [`GET ${WORKFLOWS}?page=0&limit=10&query={run}-none 200`],
    },
    { of: 'an empty page', run: 'WorkflowPage', variables: { limit: 0 }, gives: BAD_USER_INPUT, sends: [] },
    {
      of: 'the status that it has',
      run: 'UpdateWorkflowStatus',
      input: { workflowId: '{workflow}', active: true },
      gives: { changed: false, workflow: { active: true } },
      sends: [`PUT ${WORKFLOWS}/{workflow}/status {"active":true} 400`, `GET ${WORKFLOWS}/{workflow} 200`],
    },
    {
      of: 'an unknown id',
      run: 'UpdateWorkflowStatus',
      input: { workflowId: ID, active: true },
      gives: NOT_FOUND,
      sends: [`PUT ${WORKFLOWS}/${ID}/status {"active":true} 404`],
    },
    {
      of: 'an id of a wrong form',
      run: 'UpdateWorkflowStatus',
      input: { workflowId: 'malformed', active: true },
      gives: INVALID,
      sends: [`PUT ${WORKFLOWS}/malformed/status {"active":true} ${invalid}`, `GET ${WORKFLOWS}/malformed 404`],
    },
    {
      of: 'an id of the other environment, which the service answers as a wrong key',
      run: 'UpdateWorkflowStatus',
      input: { workflowId: '{workflow}', active: false },
      as: 'production',
      gives: UNAUTHENTICATED,
      sends: [`PUT ${WORKFLOWS}/{workflow}/status {"active":false} 401`],
    },
  ],

  'notification groups': [
    {
      of: 'a name',
      run: 'CreateNotificationGroup',
      input: { name: '{run} new' },
      gives: { replayed: false, notificationGroup: { name: '{run} new' } },
      sends: [`POST ${GROUPS} {"name":"{run} new"} 201`],
      keep: { newGroup: 'notificationGroup.id' },
    },
    {
      of: 'a name that exists',
      run: 'CreateNotificationGroup',
      input: { name: '{run} new' },
      gives: { notificationGroup: { name: '{run} new' } },
      sends: [`POST ${GROUPS} {"name":"{run} new"} 201`],
      keep: { sameName: 'notificationGroup.id' },
    },
    {
      of: 'all of them',
      run: 'NotificationGroups',
      gives: expect.arrayContaining([expect.objectContaining({ name: '{run} new' })]),
      sends: [`GET ${GROUPS} 200`],
    },
    {
      of: 'an id of the other environment',
      run: 'NotificationGroup',
      variables: { id: '{newGroup}' },
      as: 'production',
      gives: null,
      sends: [`GET ${GROUPS}/{newGroup} 404`],
    },
    {
      of: 'an id of a wrong form',
      run: 'NotificationGroup',
      variables: { id: 'malformed' },
      gives: REJECTED,
      sends: [`GET ${GROUPS}/malformed 500`],
    },
    {
      of: 'an unknown id',
      run: 'UpdateNotificationGroup',
      input: { id: ID, name: 'None' },
      gives: NOT_FOUND,
      sends: [`PATCH ${GROUPS}/${ID} {"name":"None"} 404`],
    },
    {
      of: 'an id of a wrong form',
      run: 'UpdateNotificationGroup',
      input: { id: 'malformed', name: 'None' },
      gives: REJECTED,
      sends: [`PATCH ${GROUPS}/malformed {"name":"None"} 500`],
    },
    {
      of: 'an id of the other environment',
      run: 'UpdateNotificationGroup',
      input: { id: '{newGroup}', name: 'None' },
      as: 'production',
      gives: NOT_FOUND,
      sends: [`PATCH ${GROUPS}/{newGroup} {"name":"None"} 404`],
    },
    {
      of: 'an id of the other environment',
      run: 'DeleteNotificationGroup',
      input: { id: '{newGroup}' },
      as: 'production',
      gives: NOT_FOUND,
      sends: [`DELETE ${GROUPS}/{newGroup} 404`],
    },
    {
      of: 'an id of a wrong form',
      run: 'DeleteNotificationGroup',
      input: { id: 'malformed' },
      gives: REJECTED,
      sends: [`DELETE ${GROUPS}/malformed 500`],
    },
    {
      of: 'a group that exists',
      run: 'DeleteNotificationGroup',
      input: { id: '{newGroup}' },
      gives: { deletedId: '{newGroup}' },
      sends: [`DELETE ${GROUPS}/{newGroup} 200`],
    },
    {
      of: 'a group that is deleted',
      run: 'DeleteNotificationGroup',
      input: { id: '{newGroup}' },
      gives: NOT_FOUND,
      sends: [`DELETE ${GROUPS}/{newGroup} 404`],
    },
    {
      of: 'the other one of its name',
      run: 'DeleteNotificationGroup',
      input: { id: '{sameName}' },
      gives: { deletedId: '{sameName}' },
      sends: [`DELETE ${GROUPS}/{sameName} 200`],
    },
    {
      of: 'a group that workflows are in, which the service does not protect',
      run: 'DeleteNotificationGroup',
      input: { id: '{group}' },
      gives: { deletedId: '{group}' },
      sends: [`DELETE ${GROUPS}/{group} 200`],
    },
  ],

  feeds: [
    {
      of: 'a name',
      run: 'CreateFeed',
      input: { name: '{run} new' },
      gives: { feed: { name: '{run} new', identifier: '{run} new' } },
      sends: [`POST ${FEEDS} {"name":"{run} new"} 201`],
      keep: { newFeed: 'feed.id' },
    },
    {
      of: 'a name that exists',
      run: 'CreateFeed',
      input: { name: '{run} new' },
      gives: { code: 'CONFLICT', reason: 'ALREADY_EXISTS' },
      sends: [`POST ${FEEDS} {"name":"{run} new"} 409`],
    },
    {
      of: 'an id of the other environment',
      run: 'DeleteFeed',
      input: { id: '{newFeed}' },
      as: 'production',
      gives: NOT_FOUND,
      sends: [`DELETE ${FEEDS}/{newFeed} 400`],
    },
    {
      of: 'an unknown id',
      run: 'DeleteFeed',
      input: { id: ID },
      gives: NOT_FOUND,
      sends: [`DELETE ${FEEDS}/${ID} 400`],
    },
    {
      of: 'an id of a wrong form',
      run: 'DeleteFeed',
      input: { id: 'malformed' },
      gives: REJECTED,
      sends: [`DELETE ${FEEDS}/malformed 500`],
    },
    {
      of: 'a feed that exists',
      run: 'DeleteFeed',
      input: { id: '{newFeed}' },
      gives: { deletedId: '{newFeed}' },
      sends: [`DELETE ${FEEDS}/{newFeed} 200`],
    },
    {
      of: 'all of them',
      run: 'Feeds',
      gives: expect.arrayContaining([expect.objectContaining({ name: '{run} feed' })]),
      sends: [`GET ${FEEDS} 200`],
    },
  ],

  subscribers: [
    {
      of: 'a new id',
      run: 'CreateSubscriber',
      input: { subscriberId: '{run}-ada', firstName: 'Ada' },
      gives: { replayed: false, subscriber: { subscriberId: '{run}-ada', firstName: 'Ada', lastName: null } },
      sends: [`POST ${SUBSCRIBERS} {"subscriberId":"{run}-ada","firstName":"Ada"} 201`],
    },
    {
      of: 'an id that exists',
      run: 'CreateSubscriber',
      input: { subscriberId: '{run}-ada', lastName: 'Byron' },
      gives: { subscriber: { firstName: 'Ada', lastName: 'Byron' } },
      sends: [`POST ${SUBSCRIBERS} {"subscriberId":"{run}-ada","lastName":"Byron"} 201`],
    },
    {
      of: 'an invalid email address',
      run: 'CreateSubscriber',
      input: { subscriberId: '{run}-bad', email: 'no address' },
      gives: { ...INVALID, issues: [{ path: ['input', 'email'] }] },
      sends: [`POST ${SUBSCRIBERS} {"subscriberId":"{run}-bad","email":"no address"} ${invalid}`],
    },
    { of: 'an empty id', run: 'CreateSubscriber', input: { subscriberId: '' }, gives: INVALID, sends: [] },
    {
      of: 'several, one of them invalid',
      run: 'CreateSubscribers',
      input: { subscribers: [{ subscriberId: '{run}-bob' }, { subscriberId: '{run}-bad', email: 'no address' }] },
      gives: { succeeded: 1, failed: 1, results: [{ subscriber: { subscriberId: '{run}-bob' } }, INVALID] },
      sends: [
        `POST ${SUBSCRIBERS} {"subscriberId":"{run}-bad","email":"no address"} ${invalid}`,
        `POST ${SUBSCRIBERS} {"subscriberId":"{run}-bob"} 201`,
      ],
    },
    {
      of: 'what was refused',
      run: 'Subscriber',
      variables: { subscriberId: '{run}-bad' },
      gives: null,
      sends: [`GET ${SUBSCRIBERS}/{run}-bad 404`],
    },
    {
      of: 'an id of the other environment',
      run: 'Subscriber',
      variables: { subscriberId: '{run}-ada' },
      as: 'production',
      gives: null,
      sends: [`GET ${ADA} 404`],
    },
    {
      of: 'a page that is full',
      run: 'Subscribers',
      variables: { limit: 1 },
      gives: { page: 0, hasMore: true, subscribers: [{}] },
      sends: [`GET ${SUBSCRIBERS}?page=0&limit=1 200`],
    },
    {
      of: 'a page that is larger than the service has',
      run: 'Subscribers',
      variables: { limit: 101 },
      gives: BAD_USER_INPUT,
      sends: [],
    },
    {
      of: 'a field',
      run: 'UpdateSubscriber',
      input: { subscriberId: '{run}-ada', firstName: 'Augusta' },
      gives: { subscriber: { firstName: 'Augusta', lastName: 'Byron' } },
      sends: [`PUT ${ADA} {"firstName":"Augusta"} 200`],
    },
    {
      of: 'an invalid email address',
      run: 'UpdateSubscriber',
      input: { subscriberId: '{run}-ada', email: 'no address' },
      gives: INVALID,
      sends: [`PUT ${ADA} {"email":"no address"} ${invalid}`],
    },
    {
      of: 'an unknown id',
      run: 'UpdateSubscriber',
      input: { subscriberId: '{run}-nobody', firstName: 'No' },
      gives: NOT_FOUND,
      sends: [`PUT ${NOBODY} {"firstName":"No"} 400`],
    },
    {
      of: 'an unknown id',
      run: 'DeleteSubscriber',
      input: { subscriberId: '{run}-nobody' },
      gives: NOT_FOUND,
      sends: [`DELETE ${NOBODY} 404`],
    },
    {
      of: 'an id of the other environment',
      run: 'DeleteSubscriber',
      input: { subscriberId: '{run}-bob' },
      as: 'production',
      gives: NOT_FOUND,
      sends: [`DELETE ${SUBSCRIBERS}/{run}-bob 404`],
    },
    {
      of: 'a subscriber that exists',
      run: 'DeleteSubscriber',
      input: { subscriberId: '{run}-bob' },
      gives: { deletedId: '{run}-bob' },
      sends: [`DELETE ${SUBSCRIBERS}/{run}-bob 200`],
    },
  ],

  topics: [
    {
      of: 'a key',
      run: 'CreateTopic',
      input: { key: '{run}', name: 'Makers' },
      gives: { replayed: false, topic: { key: '{run}', name: 'Makers' } },
      sends: [`POST ${TOPICS} {"key":"{run}","name":"Makers"} 201`],
    },
    {
      of: 'a key that exists',
      run: 'CreateTopic',
      input: { key: '{run}', name: 'Others' },
      gives: { code: 'CONFLICT' },
      sends: [`POST ${TOPICS} {"key":"{run}","name":"Others"} 409`],
    },
    {
      of: 'subscribers, one of them unknown',
      run: 'AddSubscribersToTopic',
      input: { key: '{run}', subscriberIds: ['{run}-ada', '{run}-nobody'] },
      gives: { addedIds: ['{run}-ada'], unknownIds: ['{run}-nobody'] },
      sends: [`POST ${TOPICS}/{run}/subscribers {"subscribers":["{run}-ada","{run}-nobody"]} 200`],
    },
    {
      of: 'nobody',
      run: 'AddSubscribersToTopic',
      input: { key: '{run}', subscriberIds: [] },
      gives: BAD_USER_INPUT,
      sends: [],
    },
    {
      of: 'a topic with subscribers',
      run: 'Topic',
      variables: { key: '{run}' },
      gives: { key: '{run}', subscriberIds: ['{run}-ada'] },
      sends: [`GET ${TOPICS}/{run} 200`],
    },
    {
      of: 'a key of the other environment',
      run: 'Topic',
      variables: { key: '{run}' },
      as: 'production',
      gives: null,
      sends: [`GET ${TOPICS}/{run} 404`],
    },
    {
      of: 'the smallest page',
      run: 'Topics',
      variables: { pageSize: 1 },
      gives: { topics: [{}] },
      sends: [`GET ${TOPICS}?page=0&pageSize=1 200`],
    },
    {
      of: 'a page that is larger than the service has',
      run: 'Topics',
      variables: { pageSize: 11 },
      gives: BAD_USER_INPUT,
      sends: [],
    },
    {
      of: 'a new name',
      run: 'RenameTopic',
      input: { key: '{run}', name: 'Renamed' },
      gives: { topic: { name: 'Renamed' } },
      sends: [`PATCH ${TOPICS}/{run} {"name":"Renamed"} 200`],
    },
    {
      of: 'an unknown key',
      run: 'RenameTopic',
      input: { key: '{run}-none', name: 'None' },
      gives: NOT_FOUND,
      sends: [`PATCH ${TOPICS}/{run}-none {"name":"None"} 404`],
    },
    {
      of: 'a topic with subscribers',
      run: 'DeleteTopic',
      input: { key: '{run}' },
      gives: { code: 'CONFLICT' },
      sends: [`DELETE ${TOPICS}/{run} 409`],
    },
    {
      of: 'an unknown key, which the service does not tell',
      run: 'RemoveSubscribersFromTopic',
      input: { key: '{run}-none', subscriberIds: ['{run}-ada'] },
      gives: { removedIds: ['{run}-ada'] },
      sends: [`POST ${TOPICS}/{run}-none/subscribers/removal {"subscribers":["{run}-ada"]} 204`],
    },
    {
      of: 'a subscriber',
      run: 'RemoveSubscribersFromTopic',
      input: { key: '{run}', subscriberIds: ['{run}-ada'] },
      gives: { removedIds: ['{run}-ada'] },
      sends: [`POST ${TOPICS}/{run}/subscribers/removal {"subscribers":["{run}-ada"]} 204`],
    },
    {
      of: 'a topic without subscribers',
      run: 'DeleteTopic',
      input: { key: '{run}' },
      gives: { deletedKey: '{run}' },
      sends: [`DELETE ${TOPICS}/{run} 204`],
    },
    {
      of: 'a topic that is deleted',
      run: 'DeleteTopic',
      input: { key: '{run}' },
      gives: NOT_FOUND,
      sends: [`DELETE ${TOPICS}/{run} 404`],
    },
  ],

  events: [
    {
      of: 'a subscriber',
      run: 'TriggerEvent',
      input: trigger('{run}-full', '{run}-1'),
      gives: { event: { isProcessed: true, status: 'PROCESSED', transactionId: '{run}-1', problems: [] } },
      sends: [`${TRIGGER} ${event('{run}-full', '{run}-1')} 201`],
    },
    {
      of: 'an unknown workflow',
      run: 'TriggerEvent',
      input: trigger('{run}-none', '{run}-x'),
      gives: INVALID,
      sends: [`${TRIGGER} ${event('{run}-none', '{run}-x')} 422`],
    },
    ...(
      [
        ['off', 'TRIGGER_NOT_ACTIVE'],
        ['empty', 'NO_WORKFLOW_STEPS_DEFINED'],
        ['idle', 'NO_WORKFLOW_ACTIVE_STEPS_DEFINED'],
      ] as const
    ).map(
      ([name, status]): Case => ({
        of: `the workflow that is ${name}`,
        run: 'TriggerEvent',
        input: trigger(`{run}-${name}`, '{run}-x'),
        gives: { event: { isProcessed: false, status } },
        sends: [`${TRIGGER} ${event(`{run}-${name}`, '{run}-x')} 201`],
      }),
    ),
    {
      of: 'nobody',
      run: 'TriggerEvent',
      input: { event: { workflow: '{run}-full', subscriberIds: [] } },
      gives: BAD_USER_INPUT,
      sends: [],
    },
    {
      of: 'a workflow of the other environment',
      run: 'TriggerEvent',
      input: trigger('{run}-full', '{run}-x'),
      as: 'production',
      gives: INVALID,
      sends: [`${TRIGGER} ${event('{run}-full', '{run}-x')} 422`],
    },
    {
      of: 'several, one of them for an unknown workflow',
      run: 'TriggerEvents',
      input: { events: [trigger('{run}-plain', '{run}-2').event, trigger('{run}-none', '{run}-x').event] },
      gives: { events: [{ status: 'PROCESSED' }, { status: 'ERROR', problems: ['workflow_not_found'] }] },
      sends: [`${TRIGGER}/bulk {"events":[${event('{run}-plain', '{run}-2')},${event('{run}-none', '{run}-x')}]} 201`],
    },
    {
      of: 'an unknown transaction',
      run: 'CancelTriggeredEvent',
      input: { transactionId: '{run}-none' },
      gives: { transactionId: '{run}-none', isCanceled: false },
      sends: ['DELETE /v1/events/trigger/{run}-none 200'],
    },
  ],

  'the inbox': [
    {
      of: 'a subscriber',
      run: 'Inbox',
      variables: { subscriberId: '{run}-ada', feeds: ['{run} feed'] },
      gives: {
        unseen: { count: 1, isMore: false },
        messages: { hasMore: false, messages: [{ content: 'Hello Ann, Augusta', seen: false, read: false }] },
      },
      sends: [
        `GET ${ADA}/notifications/feed?page=0&limit=10&feedIdentifier={run} feed 200`,
        `GET ${ADA}/notifications/unseen?seen=false&limit=100&feedIdentifier={run} feed&feedId={run} feed 200`,
      ],
      keep: { message: 'messages.messages.0.id' },
    },
    {
      of: 'an unknown subscriber',
      run: 'Inbox',
      variables: { subscriberId: '{run}-nobody' },
      gives: { unseen: { count: 0 }, messages: { messages: [] } },
      sends: [
        `GET ${NOBODY}/notifications/feed?page=0&limit=10 400`,
        `GET ${NOBODY}/notifications/unseen?seen=false&limit=100 400`,
      ],
    },
    {
      of: 'an unknown feed',
      run: 'Inbox',
      variables: { subscriberId: '{run}-ada', feeds: ['none'] },
      gives: { unseen: { count: 0 }, messages: { messages: [] } },
      sends: [
        `GET ${ADA}/notifications/feed?page=0&limit=10&feedIdentifier=none 200`,
        `GET ${ADA}/notifications/unseen?seen=false&limit=100&feedIdentifier=none&feedId=none 200`,
      ],
    },
    {
      of: 'an unknown message, which the service does not tell',
      run: 'MarkMessages',
      input: { subscriberId: '{run}-ada', messageIds: [ID], as: 'READ' },
      gives: { messageIds: [ID], failedIds: [] },
      sends: [
        'GET /v1/messages?page=0&limit=100&channel=in_app&subscriberId={run}-ada 200',
        `GET ${ADA}/notifications/unseen?seen=false&limit=100 200`,
        `POST ${ADA}/messages/mark-as {"messageId":["${ID}"],"markAs":"read"} 201`,
      ],
    },
    {
      of: 'an id of a wrong form',
      run: 'MarkMessages',
      input: { subscriberId: '{run}-ada', messageIds: ['malformed'], as: 'READ' },
      gives: REJECTED,
      sends: [`POST ${ADA}/messages/mark-as {"messageId":["malformed"],"markAs":"read"} 500`],
    },
    {
      of: 'no message',
      run: 'MarkMessages',
      input: { subscriberId: '{run}-ada', messageIds: [], as: 'READ' },
      gives: BAD_USER_INPUT,
      sends: [],
    },
    {
      of: 'an unknown subscriber',
      run: 'MarkMessages',
      input: { subscriberId: '{run}-nobody', messageIds: ['{message}'], as: 'READ' },
      gives: NOT_FOUND,
      sends: [`POST ${NOBODY}/messages/mark-as {"messageId":["{message}"],"markAs":"read"} 404`],
    },
    {
      of: 'a message',
      run: 'MarkMessages',
      input: { subscriberId: '{run}-ada', messageIds: ['{message}'], as: 'READ' },
      gives: {
        messageIds: ['{message}'],
        failedIds: [],
        messages: [{ id: '{message}', seen: true, read: true }],
        inbox: { unseen: { count: 1 } },
      },
      sends: [
        'GET /v1/messages?page=0&limit=100&channel=in_app&subscriberId={run}-ada 200',
        `GET ${ADA}/notifications/unseen?seen=false&limit=100 200`,
        `POST ${ADA}/messages/mark-as {"messageId":["{message}"],"markAs":"read"} 201`,
      ],
    },
    {
      of: 'all messages',
      run: 'MarkAllMessages',
      input: { subscriberId: '{run}-ada', as: 'READ' },
      gives: { changed: 1, inbox: { unseen: { count: 0 } } },
      sends: [
        `GET ${ADA}/notifications/feed?page=0&limit=10 200`,
        `GET ${ADA}/notifications/unseen?seen=false&limit=100 200`,
        `POST ${ADA}/messages/mark-all {"markAs":"read"} 201`,
      ],
    },
    {
      of: 'an unknown subscriber',
      run: 'MarkAllMessages',
      input: { subscriberId: '{run}-nobody', as: 'READ' },
      gives: NOT_FOUND,
      sends: [`POST ${NOBODY}/messages/mark-all {"markAs":"read"} 404`],
    },
    {
      of: 'a button',
      run: 'CompleteMessageAction',
      input: { subscriberId: '{run}-ada', messageId: '{message}', button: 'primary' },
      gives: { messageId: '{message}' },
      sends: [`POST ${ADA}/messages/{message}/actions/primary {"status":"done"} 201`],
    },
    {
      of: 'an unknown message',
      run: 'CompleteMessageAction',
      input: { subscriberId: '{run}-ada', messageId: ID, button: 'primary' },
      gives: NOT_FOUND,
      sends: [`POST ${ADA}/messages/${ID}/actions/primary {"status":"done"} 404`],
    },
    {
      of: 'an id of a wrong form',
      run: 'CompleteMessageAction',
      input: { subscriberId: '{run}-ada', messageId: 'malformed', button: 'primary' },
      gives: INVALID,
      sends: [`POST ${ADA}/messages/malformed/actions/primary {"status":"done"} ${invalid}`],
    },
  ],

  preferences: [
    {
      of: 'a subscriber',
      run: 'InboxPreferences',
      variables: { subscriberId: '{run}-ada' },
      gives: {
        preferences: expect.arrayContaining([expect.objectContaining({ workflowId: '{workflow}', enabled: true })]),
        globalPreferences: { enabled: true },
      },
      sends: [`GET ${ADA}/preferences 200`, `GET ${ADA}/preferences/global 200`],
    },
    {
      of: 'an unknown subscriber',
      run: 'InboxPreferences',
      variables: { subscriberId: '{run}-nobody' },
      gives: { preferences: [], globalPreferences: null },
      sends: [
        `GET ${NOBODY}/preferences ${invalid === 400 ? 400 : 404}`,
        `GET ${NOBODY}/preferences/global ${invalid === 400 ? 400 : 404}`,
      ],
    },
    {
      of: 'a channel of a workflow',
      run: 'UpdateWorkflowPreference',
      input: { subscriberId: '{run}-ada', workflowId: '{workflow}', channel: 'IN_APP', enabled: false },
      gives: { preference: { workflowId: '{workflow}', channels: { inApp: false } } },
      sends: [`PATCH ${ADA}/preferences/{workflow} {"channel":{"type":"in_app","enabled":false}} 200`],
    },
    {
      of: 'an unknown workflow',
      run: 'UpdateWorkflowPreference',
      input: { subscriberId: '{run}-ada', workflowId: ID, channel: 'EMAIL', enabled: true },
      gives: NOT_FOUND,
      sends: [`PATCH ${ADA}/preferences/${ID} {"channel":{"type":"email","enabled":true}} 404`],
    },
    {
      of: 'an unknown subscriber',
      run: 'UpdateWorkflowPreference',
      input: { subscriberId: '{run}-nobody', workflowId: '{workflow}', channel: 'EMAIL', enabled: true },
      gives: NOT_FOUND,
      sends: [`PATCH ${NOBODY}/preferences/{workflow} {"channel":{"type":"email","enabled":true}} 404`],
    },
    {
      of: 'an id of a wrong form, which newer versions take for an identifier',
      run: 'UpdateWorkflowPreference',
      input: { subscriberId: '{run}-ada', workflowId: 'malformed', channel: 'EMAIL', enabled: true },
      gives: invalid === 400 ? INVALID : NOT_FOUND,
      sends: [
        `GET ${ADA}/preferences 200`,
        `PATCH ${ADA}/preferences/malformed {"channel":{"type":"email","enabled":true}} ${invalid === 400 ? 400 : 404}`,
      ],
    },
    {
      of: 'all workflows',
      run: 'UpdateGlobalPreferences',
      input: { subscriberId: '{run}-ada', enabled: true },
      gives: { preferences: { enabled: true } },
      sends: [
        `GET ${ADA}/preferences 200`,
        `GET ${ADA}/preferences/global 200`,
        `PATCH ${ADA}/preferences {"enabled":true} 200`,
      ],
    },
    {
      of: 'an unknown subscriber',
      run: 'UpdateGlobalPreferences',
      input: { subscriberId: '{run}-nobody', channels: [{ channel: 'EMAIL', enabled: true }] },
      gives: NOT_FOUND,
      sends: [`PATCH ${NOBODY}/preferences {"preferences":[{"type":"email","enabled":true}]} 404`],
    },
  ],

  messages: [
    {
      of: 'a transaction',
      run: 'Messages',
      variables: { transactionIds: ['{run}-1'] },
      gives: {
        messages: [{ id: '{message}', channel: 'IN_APP', subscriberId: '{run}-ada', status: 'sent', read: true }],
      },
      sends: ['GET /v1/messages?page=0&limit=10&transactionId={run}-1 200'],
    },
    {
      of: 'a transaction of the other environment',
      run: 'Messages',
      variables: { transactionIds: ['{run}-1'] },
      as: 'production',
      gives: { messages: [] },
      sends: ['GET /v1/messages?page=0&limit=10&transactionId={run}-1 200'],
    },
    {
      of: 'an unknown subscriber',
      run: 'Messages',
      variables: { subscriberId: '{run}-nobody' },
      gives: null,
      sends: ['GET /v1/messages?page=0&limit=10&subscriberId={run}-nobody 404'],
    },
    {
      of: 'an id of the other environment',
      run: 'DeleteMessage',
      input: { id: '{message}' },
      as: 'production',
      gives: NOT_FOUND,
      sends: ['DELETE /v1/messages/{message} 404'],
    },
    {
      of: 'an id of a wrong form',
      run: 'DeleteMessage',
      input: { id: 'malformed' },
      gives: INVALID,
      sends: [`DELETE /v1/messages/malformed ${invalid}`],
    },
    {
      of: 'a message',
      run: 'DeleteMessage',
      input: { id: '{message}' },
      gives: { deletedId: '{message}' },
      sends: ['DELETE /v1/messages/{message} 200'],
    },
    {
      of: 'a message that is deleted',
      run: 'DeleteMessage',
      input: { id: '{message}' },
      gives: NOT_FOUND,
      sends: ['DELETE /v1/messages/{message} 404'],
    },
    {
      of: 'a feed whose messages are deleted, but that a workflow uses',
      run: 'DeleteFeed',
      input: { id: '{feed}' },
      gives: INVALID,
      sends: [`DELETE ${FEEDS}/{feed} 400`],
    },
    {
      of: 'a transaction of the other environment',
      run: 'DeleteMessagesByTransaction',
      input: { transactionId: '{run}-2' },
      as: 'production',
      gives: NOT_FOUND,
      sends: ['DELETE /v1/messages/transaction/{run}-2 404'],
    },
    {
      of: 'a transaction',
      run: 'DeleteMessagesByTransaction',
      input: { transactionId: '{run}-2' },
      gives: { transactionId: '{run}-2', channel: null },
      sends: ['DELETE /v1/messages/transaction/{run}-2 204'],
    },
  ],

  statistics: [{ of: 'no day', run: 'NotificationStats', variables: { days: 0 }, gives: BAD_USER_INPUT, sends: [] }],

  'idempotency keys': [
    {
      of: 'a new key',
      run: 'CreateNotificationGroup',
      input: { name: '{run} once', idempotencyKey: '{run}-key' },
      gives: { replayed: false, notificationGroup: { name: '{run} once' } },
      sends: [`POST ${GROUPS} {"name":"{run} once"} 201`],
      keep: { once: 'notificationGroup.id' },
    },
    {
      of: 'the same key',
      run: 'CreateNotificationGroup',
      input: { name: '{run} once', idempotencyKey: '{run}-key' },
      gives: { replayed: true, notificationGroup: { id: '{once}' } },
      sends: [`POST ${GROUPS} {"name":"{run} once"} 201`],
    },
    {
      of: 'the same key with another name',
      run: 'CreateNotificationGroup',
      input: { name: '{run} other', idempotencyKey: '{run}-key' },
      gives: { code: 'CONFLICT' },
      sends: [`POST ${GROUPS} {"name":"{run} other"} 422`],
    },
    {
      of: 'the same key for another record',
      run: 'UpdateNotificationGroup',
      input: { id: '{once}', name: '{run} once', idempotencyKey: '{run}-key' },
      gives: { replayed: false, notificationGroup: { id: '{once}' } },
      sends: [`PATCH ${GROUPS}/{once} {"name":"{run} once"} 200`],
    },
    {
      of: 'a key of a failure',
      run: 'CreateFeed',
      input: { name: '{run} feed', idempotencyKey: '{run}-failed' },
      gives: { code: 'CONFLICT', reason: 'ALREADY_EXISTS' },
      sends: [`POST ${FEEDS} {"name":"{run} feed"} 409`],
    },
    {
      of: 'the same key, whose failure is repeated',
      run: 'CreateFeed',
      input: { name: '{run} feed', idempotencyKey: '{run}-failed' },
      gives: { code: 'CONFLICT', reason: 'ALREADY_EXISTS' },
      sends: [`POST ${FEEDS} {"name":"{run} feed"} 409`],
    },
  ],
});
