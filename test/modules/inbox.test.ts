import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { createSchema, printSdl } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { connectAgent } from '../support/agent.ts';
import { type Explanation, linesOf, sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import {
  INBOX_WRITES,
  inboxMessage,
  inboxService,
  SECRET_TEXT,
  SHARED_ID,
  subscriberIn,
  WHOLE_INBOX,
  WORKFLOW_ID,
} from '../support/inbox.ts';
import { workflow } from '../support/records.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { registerTestTraces } from '../support/traces.ts';

guards('src/modules/toolkit/mutation-failures.ts', 'toFailure');
guards('src/upstream/errors.ts', 'nullIfAbsent');
guards('src/modules/types/record-fields.ts', 'collect');
guards('src/http/pipeline/client-errors.ts', 'createClientErrors.toUpstreamClientError');

const signer = createSigner();

const SCOPES = ['inbox:read', 'inbox:write', 'inbox:extra', 'workflows:read'] as const;

const clients = clientsOf(signer, { scopes: [...SCOPES], explain: true });

const start = (script: Script = inboxService, options: Partial<GatewayOptions> = {}) =>
  startGateway({ service: script, modules: [inbox], clients, maxRetries: 0, ...options });

const bearer = (claims: Record<string, unknown> = {}) => signer.bearer({ scope: SCOPES.join(' '), ...claims });

const MESSAGE = `id content contentBlocks subject seen read lastSeenAt lastReadAt createdAt transactionId workflowId workflow { name }
  feedId actor cta { type url buttons { type content } status } payload`;

describe('the messages', () => {
  it('are a page with what concerns the person, and the workflow of each is loaded once', async () => {
    await using gateway = await start(({ path, ...request }, connection) =>
      path.includes('/feed')
        ? {
            body: {
              page: 1,
              pageSize: 2,
              hasMore: true,
              totalCount: 2,
              data: [inboxMessage(), inboxMessage({ _id: 'm2', content: [{ type: 'text', content: 'Hi' }] })],
            },
          }
        : inboxService({ path, ...request }, connection),
    );
    const query = `{ inbox { messages(page: 1, limit: 2, seen: true, read: false, feeds: ["News", "a&b"]) { page hasMore messages { ${MESSAGE} } } } }`;
    const { body, headers } = await gateway.send(query, {}, { authorization: await bearer() });
    const first = {
      id: SHARED_ID,
      content: 'Hello Amara',
      contentBlocks: null,
      subject: null,
      seen: true,
      read: false,
      lastSeenAt: '2026-01-02T09:00:00.000Z',
      lastReadAt: null,
      createdAt: '2026-01-02T08:00:00.000Z',
      transactionId: 't1',
      workflowId: 'w1',
      workflow: { name: 'Workflow' },
      feedId: null,
      actor: { type: 'user', data: null },
      cta: { type: 'redirect', url: '/orders/1', buttons: [{ type: 'primary', content: 'Open' }], status: 'pending' },
      payload: { order: 1, apiToken: '[masked]' },
    };
    const second = { ...first, id: 'm2', content: null, contentBlocks: [{ type: 'text', content: 'Hi' }] };
    expect(body).toEqual({ data: { inbox: { messages: { page: 1, hasMore: true, messages: [first, second] } } } });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(gateway.service.calls()).toEqual([
      'GET /v1/subscribers/user-1/notifications/feed?page=1&limit=2&read=false&seen=true&feedIdentifier=News&feedIdentifier=a%26b',
      'GET /v1/workflows/w1',
    ]);
  });

  it('have no member of devices, providers or other records, also not in extra, and credentials are masked', async () => {
    await using gateway = await start(({ path }) => ({
      body: {
        page: 0,
        pageSize: 10,
        data: [
          inboxMessage({
            template: workflow(),
            directWebhookUrl: 'https://canary.example',
            secret: 'canary',
            tags: ['a'],
          }),
        ],
      },
      ...(path.includes('workflows') && { status: 500 }),
    }));
    const { body } = await gateway.send(
      '{ inbox { messages { messages { payload extra } } } }',
      {},
      {
        authorization: await bearer(),
      },
    );
    expect(body.data).toEqual({
      inbox: {
        messages: {
          messages: [
            {
              payload: { order: 1, apiToken: '[masked]' },
              extra: {
                _environmentId: 'env',
                _organizationId: 'org',
                _subscriberId: 's1',
                _notificationId: 'n1',
                channel: 'in_app',
                secret: '[masked]',
              },
            },
          ],
        },
      },
    });
    const { codes } = await gateway.send(
      '{ inbox { messages { messages { extra } } } }',
      {},
      {
        authorization: await bearer({ scope: 'inbox:read' }),
      },
    );
    expect(codes).toEqual(['FORBIDDEN']);
    const { body: asServer } = await gateway.send(
      '{ inbox(subscriberId: "user-1") { messages { messages { extra } } } }',
    );
    expect(JSON.stringify(asServer)).not.toMatch(/canary-(?:override|device|profile)/);
  });

  it('that lack optional members have nulls, and an invalid one costs only its place', async () => {
    const bare = { _id: 'm1', channel: 'in_app' };
    await using gateway = await start(() => ({
      body: { data: [bare, 'no message', { ...bare, cta: {}, _feedId: 'f1' }] },
    }));
    const { body, codes } = await gateway.send(
      `{ inbox { messages(limit: 3) { page hasMore messages { ${MESSAGE} } } } }`,
      {},
      {
        authorization: await bearer(),
      },
    );
    const none = Object.fromEntries(
      'content contentBlocks subject lastSeenAt lastReadAt createdAt transactionId workflowId workflow feedId actor cta payload'
        .split(' ')
        .map((name) => [name, null]),
    );
    const first = { ...none, id: 'm1', seen: false, read: false };
    expect(body.data).toEqual({
      inbox: { messages: { page: 0, hasMore: true, messages: [first, null, { ...first, feedId: 'f1' }] } },
    });
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });

  it.each<[what: string, cta: object | null, shown: object | null]>([
    ['no link', null, null],
    ['what the service sends for none', { action: { buttons: [] } }, null],
    ['only a status', { type: '', data: { url: null }, action: { status: 'pending', buttons: [] } }, null],
    ['no action', { data: null, action: null }, null],
    [
      'a type',
      { type: 'redirect', action: { buttons: [] } },
      { type: 'redirect', url: null, buttons: [], status: null },
    ],
    ['an address', { data: { url: '/a' } }, { type: null, url: '/a', buttons: [], status: null }],
    [
      'a button',
      { action: { status: 'pending', buttons: [{ type: 'primary', content: 'OK' }] } },
      { type: null, url: null, buttons: [{ type: 'primary', content: 'OK' }], status: 'pending' },
    ],
  ])('with %s have a cta only if it leads somewhere', async (_, cta, shown) => {
    await using gateway = await start(() => ({ body: { data: [inboxMessage({ cta })] } }));
    const query = '{ inbox { messages(limit: 1) { messages { cta { type url buttons { type content } status } } } } }';
    const { body } = await gateway.send(query, {}, { authorization: await bearer() });
    expect(body).toEqual({ data: { inbox: { messages: { messages: [{ cta: shown }] } } } });
  });

  it('need the scope of workflows only for the workflow', async () => {
    await using gateway = await start();
    const authorization = await bearer({ scope: 'inbox:read' });
    const read = (field: string) =>
      gateway.send(`{ inbox { messages { messages { ${field} } } } }`, {}, { authorization });
    expect((await read('workflowId')).codes).toEqual([]);
    const { status, body } = await read('workflow { name }');
    expect([status, body.errors?.[0]?.extensions.scope]).toEqual([403, 'workflows:read']);
  });

  it.each([
    ['messages(page: -1) { page }', 'page must be between 0'],
    ['messages(limit: 0) { page }', 'limit must be between 1 and 100'],
    ['messages(limit: 101) { page }', 'limit must be between 1 and 100'],
    ['messages(feeds: []) { page }', 'the number of feeds must be between 1 and 100'],
    ['messages(feeds: [""]) { page }', 'feedIdentifier must not be empty'],
    ['unseen(feeds: []) { count }', 'the number of feeds must be between 1 and 100'],
  ])('are refused before a call with %s', async (field, message) => {
    await using gateway = await start();
    const { body, codes } = await gateway.send(`{ inbox { ${field} } }`, {}, { authorization: await bearer() });
    expect([codes, body.errors?.[0]?.message]).toEqual([['BAD_USER_INPUT'], expect.stringContaining(message)]);
    expect(gateway.service.requests).toEqual([]);
  });
});

it.each([
  [0, false],
  [99, false],
  [100, true],
])('counts %i unseen messages, of which there may be more: %s', async (count, isMore) => {
  await using gateway = await start(() => ({ body: { data: { count } } }));
  const query = '{ inbox { unseen(feeds: ["News"]) { count isMore } } }';
  const { body } = await gateway.send(query, {}, { authorization: await bearer() });
  expect(body.data).toEqual({ inbox: { unseen: { count, isMore } } });
  expect(gateway.service.calls()).toEqual([
    'GET /v1/subscribers/user-1/notifications/unseen?seen=false&limit=100&feedIdentifier=News&feedId=News',
  ]);
});

it('shows and changes preferences, of a workflow and of all', async () => {
  await using gateway = await start();
  const authorization = await bearer();
  const channels = { email: true, sms: null, inApp: false, chat: null, push: null };
  const CHANNELS = 'channels { email sms inApp chat push }';
  const { body } = await gateway.send(
    `{ inbox { preferences { workflowId name critical enabled ${CHANNELS} } globalPreferences { enabled ${CHANNELS} } } }`,
    {},
    { authorization },
  );
  const preference = { workflowId: WORKFLOW_ID, name: 'Order shipped', critical: false, enabled: true, channels };
  expect(body.data).toEqual({ inbox: { preferences: [preference], globalPreferences: { enabled: true, channels } } });
  gateway.service.forget();
  const changed = await gateway.send(
    `mutation {
      one: updateWorkflowPreference(input: { workflowId: "${WORKFLOW_ID}", channel: IN_APP, enabled: false }) {
        ... on UpdateWorkflowPreferenceSuccess { preference { workflowId enabled ${CHANNELS} } inbox { subscriberId } } }
      all: updateWorkflowPreference(input: { workflowId: "${WORKFLOW_ID}", enabled: true }) { __typename }
      global: updateGlobalPreferences(input: { enabled: true, channels: [{ channel: SMS, enabled: false }] }) {
        ... on UpdateGlobalPreferencesSuccess { preferences { ${CHANNELS} } } }
    }`,
    {},
    { authorization },
  );
  expect(changed.body).toEqual({
    data: {
      one: { preference: { workflowId: WORKFLOW_ID, enabled: true, channels }, inbox: { subscriberId: 'user-1' } },
      all: { __typename: 'UpdateWorkflowPreferenceSuccess' },
      global: { preferences: { channels } },
    },
  });
  const sent = gateway.service.requests.filter(({ method }) => method === 'PATCH');
  expect(sent.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    [`/v1/subscribers/user-1/preferences/${WORKFLOW_ID}`, { channel: { type: 'in_app', enabled: false } }],
    [`/v1/subscribers/user-1/preferences/${WORKFLOW_ID}`, { enabled: true }],
    [`/v1/subscribers/user-1/preferences/${WORKFLOW_ID}`, { channel: { type: 'in_app', enabled: true } }],
    ['/v1/subscribers/user-1/preferences', { enabled: true, preferences: [{ type: 'sms', enabled: false }] }],
  ]);
});

describe('a subscriber that the service does not know yet', () => {
  const query = `{ inbox { messages { page hasMore messages { id } } unseen { count isMore } preferences { enabled } globalPreferences { enabled } } }`;
  const EMPTY = {
    messages: { page: 0, hasMore: false, messages: [] },
    unseen: { count: 0, isMore: false },
    preferences: [],
    globalPreferences: null,
  };

  it('has an empty inbox', async () => {
    await using gateway = await start();
    const { body } = await gateway.send(query, {}, { authorization: await bearer({ sub: 'nobody' }) });
    expect(body).toEqual({ data: { inbox: EMPTY } });
    expect(gateway.service.requests).toHaveLength(4);
  });

  it('has one also if older versions report it with 400', async () => {
    await using gateway = await start(() => ({
      status: 400,
      body: { statusCode: 400, message: 'Subscriber nobody not found' },
    }));
    const { body } = await gateway.send(query, {}, { authorization: await bearer({ sub: 'nobody' }) });
    expect(body).toEqual({ data: { inbox: EMPTY } });
  });

  it('is not taken for one whose request the service refuses for another reason', async () => {
    for (const message of ['limit must not be greater than 50', 'Feed not found', 'page of Subscriber is invalid']) {
      await using gateway = await start(() => ({ status: 400, body: { statusCode: 400, message } }));
      const { codes } = await gateway.send(query, {}, { authorization: await bearer() });
      expect(codes).toEqual(Array(4).fill('BAD_USER_INPUT'));
    }
  });

  it('is a NotFoundError in changes, with its id also if the token names it', async () => {
    await using gateway = await start();
    const authorization = await bearer({ sub: 'nobody' });
    for (const [field, resource] of [
      ['markMessages', 'Subscriber'],
      ['markAllMessages', 'Subscriber'],
      ['updateGlobalPreferences', 'Subscriber'],
      ['updateWorkflowPreference', 'Subscriber'],
      ['completeMessageAction', 'Message'],
    ] as const) {
      const text = `mutation { ${field}(input: { ${INBOX_WRITES[field]} }) { ... on NotFoundError { resource requestedId } } }`;
      const requestedId = { Subscriber: 'nobody', Message: SHARED_ID }[resource];
      expect((await gateway.send(text, {}, { authorization })).body).toEqual({
        data: { [field]: { resource, requestedId } },
      });
    }
  });
});

describe('marking messages', () => {
  const MARK = `mutation ($ids: [ID!]!) { markMessages(input: { messageIds: $ids, as: READ }) {
    __typename
    ... on MarkMessagesSuccess { messageIds replayed inbox { subscriberId unseen { count } } }
    ... on MutationError { message }
  } }`;

  it('returns the ids that the client sent, and the inbox as it is after the change', async () => {
    await using gateway = await start();
    const { body } = await gateway.send(MARK, { ids: [SHARED_ID, 'm2'] }, { authorization: await bearer() });
    expect(body).toEqual({
      data: {
        markMessages: {
          __typename: 'MarkMessagesSuccess',
          messageIds: [SHARED_ID, 'm2'],
          replayed: false,
          inbox: { subscriberId: 'user-1', unseen: { count: 3 } },
        },
      },
    });
    expect(gateway.service.calls()).toEqual([
      'POST /v1/subscribers/user-1/messages/mark-as',
      'GET /v1/subscribers/user-1/notifications/unseen?seen=false&limit=100',
    ]);
    expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({
      messageId: [SHARED_ID, 'm2'],
      markAs: 'read',
    });
  });

  it('marks the others of one whose id makes the sandbox fail, as the service does, and a repetition is replayed', async () => {
    await using gateway = await startGateway({ service: 'sandbox', modules: [events, inbox] });
    const event = { workflow: 'payment-failed', subscriberIds: ['ann'], payload: { amount: '2.00' } };
    for (const transactionId of ['t1', 't2']) {
      await gateway.data('mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { __typename } }', {
        event: { ...event, transactionId },
      });
    }
    type Sent = { inbox: { messages: { messages: { id: string; read: boolean }[] } } };
    const read = async () =>
      (await gateway.data<Sent>('{ inbox(subscriberId: "ann") { messages { messages { id read } } } }')).inbox.messages
        .messages;
    const [first = '', second = ''] = (await read()).map(({ id }) => id);
    const messageIds = [first, 'local-1', second, 'local-2'];
    const input = { subscriberId: 'ann', messageIds, as: 'READ', idempotencyKey: 'nightly' };
    const run = async () => {
      gateway.forget();
      const { data } = (
        await gateway.send(
          `mutation ($input: MarkMessagesInput!) { markMessages(input: $input) {
             ... on MarkMessagesSuccess { messageIds failedIds replayed } ... on MutationError { message } } }`,
          { input },
        )
      ).body;
      const sent = gateway.upstream('POST ').map(({ body, headers }) => [JSON.parse(body), headers['idempotency-key']]);
      return { data, sent };
    };
    const result = (replayed: boolean) => ({
      data: { markMessages: { messageIds, failedIds: ['local-1', 'local-2'], replayed } },
      sent: [
        [{ messageId: messageIds, markAs: 'read' }, expect.any(String)],
        [{ messageId: [first, second], markAs: 'read' }, expect.any(String)],
      ],
    });
    const [made, again] = [await run(), await run()];
    expect([made, again]).toEqual([result(false), result(true)]);
    expect(again.sent).toEqual(made.sent);
    expect(made.sent[0]?.[1]).not.toBe(made.sent[1]?.[1]);
    expect((await read()).map((message) => message.read)).toEqual([true, true]);
  });

  it.each<[status: number, ids: string[], calls: number, result: object]>([
    [400, [SHARED_ID, 'm2'], 2, { failedIds: ['m2'] }],
    [422, ['m2', SHARED_ID], 2, { failedIds: ['m2'] }],
    [500, ['m1', 'm2'], 1, { code: 'UPSTREAM_ERROR', outcome: 'UNKNOWN' }],
    [500, [SHARED_ID], 1, { code: 'UPSTREAM_ERROR', outcome: 'UNKNOWN' }],
    [400, ['m1', 'm2'], 1, { __typename: 'InvalidInputError' }],
    [403, [SHARED_ID, 'm2'], 1, { code: 'FORBIDDEN', outcome: 'NOT_APPLIED' }],
    [404, [SHARED_ID, 'm2'], 1, { __typename: 'NotFoundError' }],
    [503, [SHARED_ID, 'm2'], 1, { code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' }],
  ])('after a %i with the ids %j makes %i call(s)', async (statusCode, ids, calls, result) => {
    let sent = 0;
    await using gateway = await start(() => {
      sent += 1;
      return sent === 1 ? { status: statusCode, body: { statusCode, message: 'No.' } } : { status: 204 };
    });
    const { body } = await gateway.send(
      `mutation ($ids: [ID!]!) { markMessages(input: { messageIds: $ids, as: READ }) {
         __typename ... on MarkMessagesSuccess { failedIds } } }`,
      { ids },
      { authorization: await bearer() },
    );
    expect(body.data?.markMessages ?? body.errors?.[0]?.extensions).toMatchObject(result);
    expect(gateway.service.requests).toHaveLength(calls);
  });

  it('has an unknown outcome if the call without the rejected ids fails too, and explains that call', async () => {
    await using gateway = await start(() => ({ status: 500, body: { statusCode: 500, message: 'No.' } }));
    const authorization = await bearer();
    const ids = [SHARED_ID, 'm2'];
    const { body } = await gateway.send(MARK, { ids }, { authorization });
    expect(body.errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_ERROR', outcome: 'UNKNOWN', retryable: false } },
    ]);
    expect(gateway.service.requests.map(({ body: text }) => JSON.parse(text).messageId)).toEqual([ids, [SHARED_ID]]);
    const explained = await gateway.send(MARK, { ids }, { authorization, extensions: { explain: true } });
    const route = '/v1/subscribers/{subscriberId}/messages/mark-as';
    expect(explained.body.extensions?.explain).toMatchObject({
      calls: expect.arrayContaining([
        expect.objectContaining({ route, min: 1, max: 1 }),
        expect.objectContaining({ route, min: 0, max: 1 }),
      ]),
    });
  });

  it('returns the number of those that all of them changed', async () => {
    await using gateway = await start();
    const text = `mutation { markAllMessages(input: { as: UNSEEN, feeds: ["News"] }) { ... on MarkAllMessagesSuccess { changed inbox { subscriberId } } } }`;
    const { body } = await gateway.send(text, {}, { authorization: await bearer() });
    expect(body.data).toEqual({ markAllMessages: { changed: 2, inbox: { subscriberId: 'user-1' } } });
    expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({ markAs: 'unseen', feedIdentifier: ['News'] });
    gateway.service.script = () => ({ status: 201, body: { data: { nModified: 2 } } });
    expect((await gateway.send(text, {}, { authorization: await bearer() })).body.errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_BAD_RESPONSE', outcome: 'UNKNOWN' } },
    ]);
  });

  it('is refused before a call without ids or feeds, and with more ids than a page has', async () => {
    await using gateway = await start();
    const authorization = await bearer();
    for (const ids of [[], Array.from({ length: 101 }, (_, i) => `m${i}`)]) {
      expect((await gateway.send(MARK, { ids }, { authorization })).codes).toEqual(['BAD_USER_INPUT']);
    }
    const none = 'mutation { markAllMessages(input: { as: READ, feeds: [] }) { __typename } }';
    expect((await gateway.send(none, {}, { authorization })).codes).toEqual(['BAD_USER_INPUT']);
    expect((await gateway.send(MARK, { ids: ['..'] }, { authorization })).body.data).toMatchObject({
      markMessages: { __typename: 'InvalidInputError' },
    });
    expect(gateway.service.requests).toEqual([]);
  });

  it('shows nothing of another person’s message that has the same id, anywhere', async () => {
    using traces = registerTestTraces();
    const folder = await createTestFolder();
    const file = folder.path('audit.jsonl');
    await using gateway = await start(inboxService, {
      audit: { to: { file }, required: false },
      mcp: {
        mutations: ['Mark', 'Complete'],
        manifest: {
          Mark: `mutation Mark($id: ID!) { markMessages(input: { messageIds: [$id], as: READ }) { ... on MarkMessagesSuccess { messageIds } ... on MutationError { message } } }`,
          Complete: `mutation Complete($id: ID!) { completeMessageAction(input: { messageId: $id, button: "primary" }) { ... on CompleteMessageActionSuccess { messageId } ... on MutationError { message } } }`,
        },
      },
    });
    const authorization = await bearer();
    const left: unknown[] = [];
    for (const extensions of [{}, { upstream: true }, { explain: true }]) {
      const { body, headers } = await gateway.send(MARK, { ids: [SHARED_ID] }, { authorization, extensions });
      left.push(body, [...headers]);
    }
    await using agent = await connectAgent(gateway, authorization);
    left.push(
      await agent.client.listTools(),
      await agent.call('Mark', { id: SHARED_ID }),
      await agent.call('Complete', { id: SHARED_ID }),
    );
    left.push(gateway.log, traces.take(), await gateway.metrics(), await readFile(file, 'utf8'));
    expect(gateway.service.calls().filter((call) => call.includes('/messages/'))).toHaveLength(4);
    expect(left.map((each) => JSON.stringify(each).length > 2)).toEqual(left.map(() => true));
    expect(JSON.stringify(left)).toContain(SHARED_ID);
    expect(JSON.stringify(left)).not.toContain(SECRET_TEXT);
    expect(JSON.stringify(left)).not.toContain('canary');
  });
});

it('the action of a message is completed with its button, and one that the person does not have is a NotFoundError', async () => {
  await using gateway = await start();
  const authorization = await bearer();
  const text = `mutation { completeMessageAction(input: { messageId: "m1", button: "secondary", payload: { rating: 5 } }) {
    ... on CompleteMessageActionSuccess { messageId } ... on NotFoundError { resource requestedId } } }`;
  expect((await gateway.send(text, {}, { authorization })).body.data).toEqual({
    completeMessageAction: { messageId: 'm1' },
  });
  const [{ path, body } = { path: '', body: '' }] = gateway.service.requests;
  expect([path, JSON.parse(body)]).toEqual([
    '/v1/subscribers/user-1/messages/m1/actions/secondary',
    { status: 'done', payload: { rating: 5 } },
  ]);
  for (const [status, message] of [
    [404, 'Message m1 not found'],
    [400, 'Message with id m1 not found'],
  ] as const) {
    gateway.service.script = () => ({ status, body: { statusCode: status, message } });
    expect((await gateway.send(text, {}, { authorization })).body.data).toEqual({
      completeMessageAction: { resource: 'Message', requestedId: 'm1' },
    });
  }
});

describe('an explanation', () => {
  const explain = async (gateway: Awaited<ReturnType<typeof start>>, query: string) => {
    const { body } = await sendExplain(gateway, { query }, { authorization: await bearer() });
    const explanation = body.extensions?.explain ?? expect.unreachable(JSON.stringify(body));
    return { ...body, explanation, lines: linesOf(explanation) };
  };
  const pathsOf = ({ calls }: Explanation) => calls.map(({ curl }) => /'http:\/\/[^/]+([^']+)'/.exec(curl ?? '')?.[1]);

  it('has the read of each field of the inbox, with its command', async () => {
    await using gateway = await start();
    const query = `{ inbox ${WHOLE_INBOX.replace('content', 'workflow { name }')} }`;
    const { data, errors, explanation, lines } = await explain(gateway, query);
    expect(lines).toEqual([
      '1 [] GET subscribers/{subscriberId}/notifications/feed 1..1 Inbox.messages',
      '2 [] GET subscribers/{subscriberId}/notifications/unseen 1..1 Inbox.unseen',
      '3 [] GET subscribers/{subscriberId}/notifications/feed 1..1 Inbox.unread',
      '4 [] GET subscribers/{subscriberId}/preferences 1..1 Inbox.preferences',
      '5 [] GET subscribers/{subscriberId}/preferences/global 1..1 Inbox.globalPreferences',
      '6 [1] GET workflows/{workflowIdOrIdentifier} 0..45 InboxMessage.workflow',
    ]);
    const paths = pathsOf(explanation);
    expect([data, errors, explanation.budget]).toEqual([{ inbox: null }, undefined, { min: 5, max: 50, limit: 50 }]);
    expect(gateway.service.requests).toEqual([]);
    await gateway.send(query, {}, { authorization: await bearer() });
    expect(gateway.service.requests.map(({ path }) => path)).toEqual([...paths.slice(0, 5), '/v1/workflows/w1']);
  });

  it('has the reads of each name and person, and none of a field that fails', async () => {
    await using gateway = await start();
    const query = `{
      mine: inbox { first: messages(limit: 5) { page } second: messages(page: 1) { messages { workflow { name } } } }
      inbox(subscriberId: "user-1") { unseen { count } messages(limit: 0) { messages { workflow { name } } } }
    }`;
    const { errors, explanation, lines } = await explain(gateway, query);
    expect(lines).toEqual([
      '1 [] GET subscribers/{subscriberId}/notifications/feed 1..1 Inbox.messages',
      '2 [] GET subscribers/{subscriberId}/notifications/feed 1..1 Inbox.messages',
      '3 [] GET subscribers/{subscriberId}/notifications/unseen 1..1 Inbox.unseen',
      '4 [2] GET workflows/{workflowIdOrIdentifier} 0..47 InboxMessage.workflow',
    ]);
    expect(pathsOf(explanation).map((path) => path?.slice('/v1/subscribers/user-1/notifications/'.length))).toEqual([
      'feed?page=0&limit=5',
      'feed?page=1&limit=10',
      'unseen?seen=false&limit=100',
      undefined,
    ]);
    expect(errors?.map(({ path, message }) => [path, message])).toEqual([
      [['inbox', 'messages'], expect.stringContaining('limit must be between 1 and 100')],
    ]);
  });

  it('has the inboxes of different people, if an API key asks for them', async () => {
    await using gateway = await start();
    const query =
      '{ a: inbox(subscriberId: "a") { unseen { count } } b: inbox(subscriberId: "b") { unseen { count } } }';
    await gateway.accept('server');
    const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey server' });
    expect(pathsOf(body.extensions?.explain ?? expect.unreachable())).toEqual(
      ['a', 'b'].map((id) => `/v1/subscribers/${id}/notifications/unseen?seen=false&limit=100`),
    );
  });

  it('has the reads of the inbox after a change as what can follow', async () => {
    await using gateway = await start();
    const mark = `markAllMessages(input: { as: READ }) { ... on MarkAllMessagesSuccess { inbox { unseen { count } } } }`;
    expect((await explain(gateway, `mutation { a: ${mark} b: ${mark} }`)).lines).toEqual([
      '1 [] POST subscribers/{subscriberId}/messages/mark-all 1..1 Mutation.markAllMessages',
      '2 [1] GET subscribers/{subscriberId}/notifications/unseen 0..1 Inbox.unseen',
      '3 [1,2] POST subscribers/{subscriberId}/messages/mark-all 1..1 Mutation.markAllMessages',
      '4 [3] GET subscribers/{subscriberId}/notifications/unseen 0..1 Inbox.unseen',
    ]);
  });
});

it('reads are neither stored nor shared between people, but those of one person at the same time are one call', async () => {
  await using gateway = await start(inboxService, { cache: true });
  const tokens = { 'user-1': await bearer({ sub: 'user-1' }), 'user-2': await bearer({ sub: 'user-2' }) };
  const send = (query: string, user: keyof typeof tokens) => gateway.send(query, {}, { authorization: tokens[user] });
  const read = (user: keyof typeof tokens) => send('{ inbox { unseen { count } } }', user);
  await Promise.all([send('{ __typename }', 'user-1'), send('{ __typename }', 'user-2')]); // Verifies the tokens.
  const held = gateway.service.hold(undefined, 2);
  const all = Promise.all([read('user-1'), read('user-1'), read('user-2')]);
  await held.arrived;
  await gateway.inFlight(3);
  held.release();
  await all;
  await read('user-1');
  const path = (id: string) => `GET /v1/subscribers/${id}/notifications/unseen?seen=false&limit=100`;
  expect(gateway.service.calls().toSorted()).toEqual([path('user-1'), path('user-1'), path('user-2')]);
});

it('is a tool of an agent, whose token implies the person, and whose results have a limit', async () => {
  const data = Array.from({ length: 100 }, () => inboxMessage({ content: 'x'.repeat(400) }));
  await using gateway = await start(
    (request, raw) =>
      request.path.includes('limit=100') && request.path.includes('/feed')
        ? { body: { data, hasMore: true } }
        : inboxService(request, raw),
    { mcp: { mutations: ['MarkMessages'] } },
  );
  await using agent = await connectAgent(gateway, await bearer());
  const { tools } = await agent.client.listTools();
  const [tool] = tools.filter(({ name }) => name === 'Inbox');
  expect(tool?.inputSchema.required).toEqual([]);
  expect(JSON.stringify(tool?.inputSchema)).toContain('A token reaches only its subject, and can omit it.');
  expect((await agent.call('Inbox')).structured).toMatchObject({ data: { inbox: { unseen: { count: 3 } } } });
  const marked = await agent.call('MarkMessages', { input: { messageIds: [SHARED_ID], as: 'SEEN' } });
  expect(marked.structured).toMatchObject({ data: { markMessages: { messageIds: [SHARED_ID] } } });
  const large = await agent.call('Inbox', { limit: 100 });
  expect([large.isError, large.text]).toEqual([
    true,
    expect.stringMatching(/^The result has \d{5,6} bytes; at most 32768 are sent\. It depends on .*\blimit\b/),
  ]);
  expect(new Set(gateway.service.requests.map(subscriberIn))).toEqual(new Set(['user-1']));
});

it('is no entity of a federated graph', async () => {
  expect(printSdl(createSchema({ federation: true, introspection: true }, [inbox]))).toContain(
    'union _Entity = NotificationGroup | Workflow\n',
  );
});

it('without a call, an API key is tried before its inbox is named', async () => {
  await using gateway = await start(() => ({ status: 401, body: { statusCode: 401, message: 'Unauthorized' } }));
  const { body, codes } = await gateway.send(
    '{ inbox(subscriberId: "user-1") { subscriberId } }',
    {},
    { authorization: 'ApiKey invented' },
  );
  expect([codes, body.data]).toEqual([['UNAUTHENTICATED'], { inbox: null }]);
  expect(gateway.service.calls()).toEqual(['GET /v1/notification-groups']);
});

it('on the sandbox, a triggered message reaches two people, and what one of them reads stays unseen for the other', async () => {
  const scopes = ['inbox:read', 'inbox:write', 'events:write'] as const;
  const tenants = { acme: SANDBOX_KEYS.development };
  await using gateway = await startGateway({
    service: 'sandbox',
    modules: [inbox, events],
    clients: clientsOf(signer, { scopes: [...scopes], tenants }),
  });
  const as = async (sub: string, query: string) => {
    const { body } = await gateway.send(query, {}, { authorization: await bearer({ sub, scope: scopes.join(' ') }) });
    return JSON.parse(JSON.stringify(body));
  };
  const UNSEEN = '{ inbox { unseen { count } } }';
  const countOf = async (sub: string) => (await as(sub, UNSEEN)).data.inbox.unseen.count;
  const people = ['customer-1001', 'customer-1002', 'new-person'] as const;
  const before = await Promise.all(people.map(countOf));
  expect(before[2]).toBe(0); // The service doesn't know this one.
  await as(
    people[0],
    `mutation { triggerEvent(input: { event: { workflow: "payment-failed", subscriberIds: ["${people.join('", "')}"], payload: { amount: "24.00 EUR" } } }) { __typename } }`,
  );
  const after = before.map((count) => count + 1);
  expect(await Promise.all(people.map(countOf))).toEqual(after);
  const first = '{ inbox { messages(limit: 1) { messages { id content seen read } } } }';
  const { id, ...message } = (await as(people[0], first)).data.inbox.messages.messages[0];
  expect(message).toMatchObject({ content: expect.stringContaining('24.00 EUR'), seen: false, read: false });
  const mark = `mutation { markMessages(input: { messageIds: ["${id}"], as: READ }) { ... on MarkMessagesSuccess { inbox { unseen { count } } } } }`;
  expect((await as(people[1], mark)).data.markMessages).toEqual({ inbox: { unseen: { count: after[1] } } });
  expect((await as(people[0], mark)).data.markMessages).toEqual({ inbox: { unseen: { count: before[0] } } });
  expect((await as(people[0], first)).data.inbox.messages.messages[0]).toMatchObject({ id, seen: true, read: true });
  expect(await Promise.all(people.map(countOf))).toEqual([before[0], after[1], after[2]]);
});
