import { CreateFeedDocument, WorkflowDocument } from 'notigraph/client';
import { createTestGateway, type TestGateway } from 'notigraph/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({
    now: '2027-01-15T12:00:00Z',
    cache: true,
    records: {
      notificationGroups: ['Billing'],
      workflows: [{ identifier: 'payment-failed', name: 'Payment failed', group: 'Billing' }],
    },
  });
});

afterEach(() => gateway.reset());
afterAll(() => gateway.close());

test('loads a workflow', async () => {
  const { data } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  expect(data?.workflow).toMatchObject({ name: 'Payment failed', notificationGroup: { name: 'Billing' } });
});

test('reports a failure of the service', async () => {
  gateway.fail('GET /v1/workflows/{id}', 503);
  const { errors } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  expect(errors?.[0]?.extensions.retryable).toBe(true);
  expect(gateway.calls).toHaveLength(3); // The gateway has tried it three times.
});

test('uses data from the cache while it is fresh', async () => {
  const load = () => gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  await load();
  gateway.clock.advance({ seconds: 5 });
  await load();
  expect(gateway.calls).toHaveLength(2); // The workflow and its group, once each.
  gateway.clock.advance({ minutes: 1 });
  await load();
  expect(gateway.calls.length).toBeGreaterThan(2);
});

import { TriggerEventDocument } from 'notigraph/client';
import events from 'notigraph/modules/events';

test('triggers a notification', async () => {
  const own = await createTestGateway({ modules: [events] });
  const { data } = await own.client.request(TriggerEventDocument, {
    input: { event: { workflow: 'payment-failed', subscriberIds: ['customer-1001'] } },
  });
  expect(data?.triggerEvent?.__typename).toBe('TriggerEventSuccess');
  await own.close();
});

import { GraphQLClient } from 'graphql-request';

test('works with other clients', async () => {
  const client = new GraphQLClient('https://graphql.example.com/graphql', {
    fetch: gateway.fetch,
    headers: { authorization: `ApiKey ${gateway.key}` },
  });
  const data = await client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  expect(data.workflow?.active).toBe(true);
});

test('finds seeded records', async () => {
  gateway.seed({
    workflows: [
      { id: 'w1', identifier: 'invoice', active: false, steps: [{ type: 'email', subject: 'Invoice {{number}}' }] },
    ],
    subscribers: [{ subscriberId: 'customer-1', firstName: 'Ada' }],
    messages: [
      { transactionId: 't1', channels: ['email', 'sms'] },
      { transactionId: 't2', channels: ['in_app'], subscriberId: 'customer-1', content: 'Hello', seen: true },
    ],
    statistics: [{ date: '2027-01-14', workflows: ['invoice', 'payment-failed'], count: 12, channels: ['email'] }],
  });
  gateway.seed({ feeds: [{ id: 'f1', name: 'Activity' }] }, { environment: 'production' });
  const { data } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'w1' });
  expect(data?.workflow?.active).toBe(false);
});

import { createClient, InboxDocument, MarkMessagesDocument, UpdateWorkflowPreferenceDocument } from 'notigraph/client';
import inbox from 'notigraph/modules/inbox';
import { SANDBOX_KEYS } from 'notigraph/testing';

test('a person reads a message, and switches off others', async () => {
  const scopes = ['inbox:read', 'inbox:write'] as const;
  await using own = await createTestGateway({
    modules: [events, inbox],
    clients: { browser: { scopes, tenants: { test: SANDBOX_KEYS.development } } },
    clientTokens: { secrets: ['a-fake-secret-only-for-these-tests'] },
    records: {
      workflows: [{ id: 'w1', identifier: 'mention', steps: [{ type: 'in_app', content: '{{by}} mentioned you' }] }],
      subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }],
      messages: [
        { id: 'm1', transactionId: 't1', channels: ['in_app'], subscriberId: 'ada', content: 'Welcome' },
        { id: 'm2', transactionId: 't2', channels: ['in_app'], subscriberId: 'bob', content: 'For Bob' },
      ],
    },
  });
  const response = await own.fetch(new URL('/client-tokens', own.url), {
    method: 'POST',
    headers: { authorization: `ApiKey ${own.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes, subject: 'ada' }),
  });
  const { token } = await response.json();
  const ada = createClient({ url: own.url, fetch: own.fetch, authorization: `Bearer ${token}` });

  await ada.request(MarkMessagesDocument, { input: { messageIds: ['m1'], as: 'READ' } });
  await ada.request(UpdateWorkflowPreferenceDocument, {
    input: { workflowId: 'w1', channel: 'IN_APP', enabled: false },
  });
  await own.client.request(TriggerEventDocument, {
    input: { event: { workflow: 'mention', subscriberIds: ['ada', 'bob'], payload: { by: 'Eve' } } },
  });

  const { data } = await ada.request(InboxDocument);
  expect(data?.inbox?.unseen?.count).toBe(0);
  expect(data?.inbox?.messages?.messages).toMatchObject([{ content: 'Welcome', read: true }]);
  const { errors } = await ada.request(InboxDocument, { subscriberId: 'bob' });
  expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
});

test('learns that a write may have been applied', async () => {
  gateway.fail('POST /v1/feeds', 'timeout', { times: 1, applied: true });
  const create = () => gateway.client.request(CreateFeedDocument, { input: { name: 'News' } });
  const first = await create();
  expect(first.errors?.[0]?.extensions.outcome).toBe('UNKNOWN');
  const second = await create();
  expect(second.data?.createFeed?.__typename).toBe('ConflictError');
});

test('uses a new key if the service has stored a failure', async () => {
  gateway.behave('stored-failures');
  const create = (idempotencyKey: string) =>
    gateway.client.request(CreateFeedDocument, { input: { name: 'News', idempotencyKey } });
  expect((await create('attempt-1')).errors).toHaveLength(1);
  expect((await create('attempt-1')).errors).toHaveLength(1);
  const { data } = await create('attempt-2');
  expect(data?.createFeed?.__typename).toBe('CreateFeedSuccess');
});
