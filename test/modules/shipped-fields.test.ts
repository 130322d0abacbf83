import { expect, it } from 'vitest';
import { createSchema, endpointsOf } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import { CONTRACT } from '../../src/upstream/endpoints.ts';
import { describeContract, type Field } from '../support/field-contract.ts';
import { guards } from '../support/guards.ts';
import { INBOX_WRITES, inboxMessage, PREFERENCE, WORKFLOW_ID } from '../support/inbox.ts';
import { feed, subscriber } from '../support/records.ts';

guards('src/modules/toolkit/resolvers.ts', 'runAsMutation');
guards('src/modules/toolkit/mutation-run.ts', 'MutationRun.constructor');

const TRIGGERED = { status: 'processed', transactionId: 't1' };
const EVENT = '{ workflow: "w", subscriberIds: ["s1"] }';
const TOPIC = { data: { _id: 't1', key: 'k', name: 'Topic', subscribers: [] } };
const PAGE = { page: 0, hasMore: false, totalCount: 0, data: [] };

const INBOX = '/v1/subscribers/{subscriberId}';

/** Reads of the inbox, which its fields make. */
const INBOX_READS = [
  {
    endpoint: `GET ${INBOX}/notifications/feed`,
    text: 'inbox(subscriberId: $id) { messages { page } }',
    path: `${INBOX}/notifications/feed?page=0&limit=10`,
    body: { ...PAGE, data: [inboxMessage()] },
    caller: 'Inbox.messages',
    absent: { messages: { page: 0 } },
  },
  {
    endpoint: `GET ${INBOX}/notifications/unseen`,
    text: 'inbox(subscriberId: $id) { unseen { count } }',
    path: `${INBOX}/notifications/unseen?seen=false&limit=100`,
    body: { data: { count: 1 } },
    caller: 'Inbox.unseen',
    absent: { unseen: { count: 0 } },
  },
  {
    endpoint: `GET ${INBOX}/preferences`,
    text: 'inbox(subscriberId: $id) { preferences { name } }',
    body: { data: [PREFERENCE] },
    caller: 'Inbox.preferences',
    absent: { preferences: [] },
  },
  {
    endpoint: `GET ${INBOX}/preferences/global`,
    text: 'inbox(subscriberId: $id) { globalPreferences { enabled } }',
    body: { data: [PREFERENCE] },
    caller: 'Inbox.globalPreferences',
    absent: { globalPreferences: null },
  },
] satisfies Field[];

/** Changes of the inbox. */
const INBOX_CHANGES = {
  markMessages: { endpoint: `POST ${INBOX}/messages/mark-as`, body: { data: [] } },
  markAllMessages: { endpoint: `POST ${INBOX}/messages/mark-all`, body: { data: 1 } },
  completeMessageAction: {
    endpoint: `POST ${INBOX}/messages/{messageId}/actions/{type}`,
    path: `${INBOX}/messages/65f0000000000000000000aa/actions/primary`,
    body: { data: {} },
    notFoundMessage: 'Message "65f0000000000000000000aa" was not found.',
  },
  updateWorkflowPreference: {
    endpoint: `PATCH ${INBOX}/preferences/{workflowId}`,
    path: `${INBOX}/preferences/${WORKFLOW_ID}`,
    body: { data: PREFERENCE },
    notFoundMessage: `Workflow "${WORKFLOW_ID}" was not found.`,
  },
  updateGlobalPreferences: { endpoint: `PATCH ${INBOX}/preferences`, body: { data: PREFERENCE } },
} as const;

/** A field for each endpoint of the shipped modules. */
const SHIPPED: readonly Field[] = [
  {
    endpoint: 'POST /v1/events/trigger',
    text: `triggerEvent(input: { event: ${EVENT} })`,
    body: { data: TRIGGERED },
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'POST /v1/events/trigger/bulk',
    text: `triggerEvents(input: { events: [${EVENT}] })`,
    body: { data: [TRIGGERED] },
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'DELETE /v1/events/trigger/{transactionId}',
    text: 'cancelTriggeredEvent(input: { transactionId: $id })',
    body: { data: true },
    returns: ['NotFoundError'],
  },
  ...INBOX_READS,
  ...(Object.entries(INBOX_CHANGES) as [keyof typeof INBOX_CHANGES, Partial<Field> & Pick<Field, 'endpoint'>][]).map(
    ([name, field]): Field => ({
      text: `${name}(input: { subscriberId: $id, ${INBOX_WRITES[name]} })`,
      isIdempotent: true,
      returns: ['NotFoundError', 'ConflictError'],
      notFoundMessage: 'Subscriber "r1" was not found.',
      ...field,
    }),
  ),
  {
    endpoint: 'GET /v1/messages',
    text: 'messages { __typename }',
    path: '/v1/messages?page=0&limit=10',
    body: PAGE,
  },
  {
    endpoint: 'DELETE /v1/messages/{messageId}',
    text: 'deleteMessage(input: { id: $id })',
    body: { data: { acknowledged: true, status: 'deleted' } },
    returns: ['NotFoundError'],
  },
  { endpoint: 'GET /v1/feeds', text: 'feeds { __typename }', body: { data: [feed()] } },
  {
    endpoint: 'GET /v1/subscribers',
    text: 'subscribers { __typename }',
    path: '/v1/subscribers?page=0&limit=10',
    body: PAGE,
  },
  {
    endpoint: 'GET /v1/subscribers/{subscriberId}',
    text: 'subscriber(subscriberId: $id) { __typename }',
    body: { data: subscriber() },
  },
  {
    endpoint: 'PUT /v1/subscribers/{subscriberId}',
    text: 'updateSubscriber(input: { subscriberId: $id, firstName: "Noa" })',
    body: { data: subscriber() },
    isRepeatable: true,
    returns: ['NotFoundError'],
  },
  {
    endpoint: 'DELETE /v1/subscribers/{subscriberId}',
    text: 'deleteSubscriber(input: { subscriberId: $id })',
    body: { data: { acknowledged: true, status: 'deleted' } },
    returns: ['NotFoundError'],
  },
  { endpoint: 'GET /v1/topics', text: 'topics { __typename }', path: '/v1/topics?page=0&pageSize=10', body: PAGE },
  { endpoint: 'GET /v1/topics/{topicKey}', text: 'topic(key: $id) { __typename }', body: TOPIC },
  {
    endpoint: 'POST /v1/topics',
    text: 'createTopic(input: { key: "k", name: "n" })',
    body: TOPIC,
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'PATCH /v1/topics/{topicKey}',
    text: 'renameTopic(input: { key: $id, name: "n" })',
    body: TOPIC,
    isIdempotent: true,
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'DELETE /v1/topics/{topicKey}',
    text: 'deleteTopic(input: { key: $id })',
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'POST /v1/topics/{topicKey}/subscribers',
    text: 'addSubscribersToTopic(input: { key: $id, subscriberIds: ["s1"] })',
    body: { data: { succeeded: ['s1'] } },
    isIdempotent: true,
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'POST /v1/topics/{topicKey}/subscribers/removal',
    text: 'removeSubscribersFromTopic(input: { key: $id, subscriberIds: ["s1"] })',
    isIdempotent: true,
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'GET /v1/workflows',
    text: 'workflowPage { __typename }',
    path: '/v1/workflows?page=0&limit=10',
    body: PAGE,
  },
];

const MODULES = [events, inbox, messages, subscribers, topics, workflowPages];

it('every endpoint of the shipped modules has a field that is tested', () => {
  const endpoints = endpointsOf(createSchema(undefined, MODULES)).slice(CONTRACT.length);
  expect(SHIPPED.map(({ endpoint }) => endpoint).toSorted()).toEqual(
    [...new Set(endpoints.map(({ method, route }) => `${method} ${route}`))].toSorted(), // Two modules share some.
  );
});

describeContract(SHIPPED, MODULES);
