import { createHash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { bulkOf } from '../modules/example.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { operations } from '../support/operations.ts';
import { group } from '../support/records.ts';
import { clientsOf, createSigner, ISSUER } from '../support/tokens.ts';

guards('src/modules/toolkit/mutation-run.ts', 'deriveIdempotencyKey');
guards('src/upstream/calls/bounded-client.ts', 'CallBudget.createRequest');

const { CreateFeed, CreateNotificationGroup, CreateSubscribers } = operations;

const keysOf = (exchanges: readonly { headers: Record<string, unknown> }[]) =>
  exchanges.map(({ headers }) => headers['idempotency-key']);

/** Module with a mutation that sends three writes. */
const books = defineModule('books', ({ bulkMutation, endpoint, mutation }) => {
  const shelve = endpoint('PATCH /v1/books/{id}', { idempotent: true, expect: 'value' }).takes<{
    query: { room: string };
    body: { shelved: boolean };
  }>();
  const shelving = mutation('shelveBook', {
    description: 'Shelves a book in one room, and twice in another one.',
    scope: 'books:write',
    endpoint: shelve,
    input: { description: 'It.', fields: (t) => ({ id: t.id({ required: true }) }) },
    resolve: async ({ id }, send) => {
      for (const room of ['a', 'b', 'b']) {
        await send({ id, query: { room }, body: { shelved: true } });
      }
      return { id };
    },
    success: { description: 'It is shelved.', fields: (t) => ({ id: t.exposeID('id') }) },
  });
  bulkMutation('shelveBooks', shelving, bulkOf('books', 10));
});

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: 'sandbox' });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.forget());

it('a repeated input with the same key gets the same response and is applied once', async () => {
  const create = () => gateway.data(CreateNotificationGroup, { input: { name: 'Once', idempotencyKey: 'order-17' } });
  const [first, second] = [await create(), await create()];
  expect(first.createNotificationGroup).toMatchObject({ replayed: false, notificationGroup: { name: 'Once' } });
  expect(second.createNotificationGroup).toMatchObject({ ...first.createNotificationGroup, replayed: true });
  const { notificationGroups } = await gateway.data<{ notificationGroups: { name: string }[] }>(
    '{ notificationGroups { name } }',
  );
  expect(notificationGroups.filter(({ name }) => name === 'Once')).toHaveLength(1);
});

it('the header applies to several root fields of one operation, and none replays the response of another', async () => {
  const document = `mutation {
    a: createFeed(input: { name: "Same" }) { ... on CreateFeedSuccess { replayed feed { identifier } } }
    b: createNotificationGroup(input: { name: "Same" }) { ... on CreateNotificationGroupSuccess { replayed notificationGroup { name } } }
    c: createNotificationGroup(input: { name: "Same" }) { ... on CreateNotificationGroupSuccess { replayed notificationGroup { name } } } }`;
  const request = { headers: { 'idempotency-key': 'header-1' } };
  const success = (replayed: boolean) => ({
    a: { replayed, feed: { identifier: 'Same' } },
    b: { replayed, notificationGroup: { name: 'Same' } },
    c: { replayed, notificationGroup: { name: 'Same' } },
  });
  expect(await gateway.data(document, {}, request)).toEqual(success(false));
  expect(await gateway.data(document, {}, request)).toEqual(success(true));
  const keys = keysOf(gateway.upstream());
  expect(new Set(keys).size).toBe(3);
  expect(keys.slice(0, 3)).toEqual(keys.slice(3));
  for (const key of keys) {
    expect(key).toMatch(/^[0-9a-f]{64}$/); // The caller's key itself is not sent.
  }
});

it('the input’s key takes precedence over the header, and without either no key is sent', async () => {
  const input = { name: 'A', idempotencyKey: 'input-key' };
  await gateway.data(CreateFeed, { input }, { headers: { 'idempotency-key': 'one' } });
  await gateway.data(CreateFeed, { input }, { headers: { 'idempotency-key': 'two' } });
  await gateway.data(CreateFeed, { input: { name: 'B' } });
  const [first, second, third] = keysOf(gateway.upstream());
  expect(first).toBe(second);
  expect(third).toBeUndefined();
});

it('different keys stay different, and so do different fields with the same alias', async () => {
  for (const [field, key] of [
    ['createFeed', 'one'],
    ['createFeed', 'two'],
    ['createNotificationGroup', 'one'],
  ]) {
    const document = `mutation { x: ${field}(input: { name: "${key}" }) { __typename } }`;
    await gateway.data(document, {}, { headers: { 'idempotency-key': key ?? '' } });
  }
  expect(new Set(keysOf(gateway.upstream())).size).toBe(3);
});

it('each item of a bulk mutation has its own key', async () => {
  const subscribers = Array.from({ length: 5 }, (_, i) => ({ subscriberId: `bulk-${i}`, idempotencyKey: 'same' }));
  await gateway.data(CreateSubscribers, { input: { subscribers } });
  expect(new Set(keysOf(gateway.upstream())).size).toBe(5);
});

it('keys are those of version 1.0 while both versions run', async () => {
  const signer = createSigner();
  const digest = (...parts: unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: group({ name: 'A' }) } }),
    clients: clientsOf(signer),
    idempotencyKeys: 'previous',
    modules: [books],
  });
  const headers = { 'idempotency-key': 'k' };
  await gateway.send(CreateFeed, { input: { name: 'Server' } }, { headers });
  const subscribers = [{ subscriberId: 'a' }, { subscriberId: 'b', idempotencyKey: 'own' }];
  await gateway.send(CreateSubscribers, { input: { subscribers } }, { headers });
  const authorization = await signer.bearer({ sub: 'ann' });
  const renamed = 'mutation { x: createFeed(input: { name: "Person" }) { __typename } }';
  await gateway.send(renamed, {}, { headers, authorization });
  await gateway.send('mutation { shelveBook(input: { id: "1" }) { __typename } }', {}, { headers });
  const person = ['browser', 'acme', ISSUER, 'ann'].join('\n');
  expect(new Set(keysOf(gateway.service.requests))).toEqual(
    new Set([
      digest('createFeed', 'createFeed', 'k'),
      digest('createSubscribers', 'createSubscribers', 'k', 0),
      digest('createSubscribers', 'createSubscribers', 'own', 1),
      digest('createFeed', 'x', 'k', person),
      digest('shelveBook', 'shelveBook', 'k'),
      digest('shelveBook', 'shelveBook', 'k', { write: 2 }),
      digest('shelveBook', 'shelveBook', 'k', { write: 3 }),
    ]),
  );
});

it('a reused key with another input is a conflict with an explanation', async () => {
  const create = (name: string) =>
    gateway.data<{ createFeed: unknown }>(
      'mutation ($input: CreateFeedInput!) { createFeed(input: $input) { __typename ... on ConflictError { reason } } }',
      { input: { name, idempotencyKey: 'reused' } },
    );
  expect((await create('One')).createFeed).toEqual({ __typename: 'CreateFeedSuccess' });
  expect((await create('Two')).createFeed).toEqual({ __typename: 'ConflictError', reason: 'IDEMPOTENCY_KEY_REUSED' });
});

it('a change whose key is in flight, or was interrupted, may have been applied, and says what to do', async () => {
  await using gateway = await startGateway({
    service: () => ({
      status: 409,
      headers: { 'retry-after': '1' },
      body: { message: 'Request with key "0c1d" is currently being processed.' },
    }),
  });
  const rename = (idempotencyKey?: string) =>
    gateway.send(
      'mutation ($input: UpdateNotificationGroupInput!) { updateNotificationGroup(input: $input) { ... on ConflictError { reason } } }',
      { input: { id: 'g1', name: 'n', ...(idempotencyKey !== undefined && { idempotencyKey }) } },
    );
  const message =
    'An earlier request with this idempotency key is in progress, or was interrupted and may have been applied. Repeat the request with the same key.';
  const repeatability = { retryable: true, retryAfterSeconds: 1, outcome: 'UNKNOWN' }; // Of eight keys that a killed service had locked, four were applied.
  expect((await rename('key')).body).toMatchObject({
    data: { updateNotificationGroup: null },
    errors: [{ message, extensions: { code: 'UPSTREAM_UNAVAILABLE', ...repeatability } }],
  });
  expect((await rename()).body).toEqual({ data: { updateNotificationGroup: { reason: 'OTHER' } } });
  const { createSubscribers } = await gateway.data<{ createSubscribers: unknown }>(
    `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { results {
      ... on UpstreamFailure { message status retryable retryAfterSeconds outcome } } } }`,
    { input: { subscribers: [{ subscriberId: 'a', idempotencyKey: 'key' }] } },
  );
  expect(createSubscribers).toEqual({ results: [{ message, status: 409, ...repeatability }] });
  expect(gateway.service.requests).toHaveLength(3); // Not repeated, unless the service is said to honor keys.
});

it.each([
  ['an empty key', CreateFeed, { name: 'A', idempotencyKey: ' ' }],
  [
    'an empty key of one item',
    CreateSubscribers,
    { subscribers: [{ subscriberId: 'b' }, { subscriberId: 'a', idempotencyKey: '' }] },
  ],
])('%s rejects a mutation before anything is sent', async (_, document, input) => {
  expect((await gateway.send(String(document), { input })).codes).toEqual(['BAD_USER_INPUT']);
  await gateway.data('{ notificationGroups { name } }'); // An item would have been sent by now.
  expect(gateway.upstream().map(({ method }) => method)).toEqual(['GET']);
});

it('the same key with another API key is another change: services store keys for all environments together', async () => {
  await using gateway = await startGateway({ service: () => ({ status: 201, body: { data: group({ name: 'A' }) } }) });
  const create = async (key: string) => {
    const input = { name: 'A', idempotencyKey: 'order-17' };
    const subscribers = [{ subscriberId: 'a', idempotencyKey: 'order-17' }];
    const authorization = `ApiKey ${key}`;
    await gateway.data(CreateNotificationGroup, { input }, { authorization });
    await gateway.data(CreateSubscribers, { input: { subscribers } }, { authorization });
    return keysOf(gateway.service.requests.splice(0));
  };
  const [development, production, again] = [await create('dev'), await create('prod'), await create('dev')];
  expect(new Set([...development, ...production]).size).toBe(4);
  expect(again).toEqual(development);
});

it('people of one tenant who send the same key do not get each other’s response', async () => {
  const signer = createSigner();
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: group({ name: 'A' }) } }),
    clients: clientsOf(signer),
  });
  const create = async (claims: JWTPayload) =>
    gateway.data(
      CreateNotificationGroup,
      { input: { name: 'A', idempotencyKey: 'order-17' } },
      { authorization: `Bearer ${await signer.sign(claims)}` },
    );
  await create({ sub: 'ann' });
  await create({ sub: 'bob' });
  await create({ sub: 'ann', jti: 'a renewed token' });
  const [ann, bob, annAgain] = keysOf(gateway.service.requests);
  expect(bob).not.toBe(ann);
  expect(annAgain).toBe(ann);
});

describe('one key for two records, whose ids are only in the path', () => {
  let gateway: GatewayWithService;
  const people = ['ann', 'bob'] as const;
  const topicKeys = ['news', 'tips'] as const;
  let groups: string[];
  let messages: string[];
  let workflow: string;
  beforeAll(async () => {
    gateway = await startGateway({ service: 'sandbox', modules: [events, inbox, topics] });
    const event = { workflow: 'payment-failed', subscriberIds: people, payload: { amount: '2.00' } };
    await gateway.data(
      `mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { __typename }
        ${topicKeys.map(
          (key) => `${key}: createTopic(input: { key: "${key}", name: "n" }) { __typename }
          ${key}Ann: addSubscribersToTopic(input: { key: "${key}", subscriberIds: ["ann"] }) { __typename }`,
        )} }`,
      { event },
    );
    const records = await gateway.data<{
      workflow: { id: string };
      notificationGroups: { id: string }[];
      ann: { messages: { messages: [{ id: string }] } };
      bob: { messages: { messages: [{ id: string }] } };
    }>(
      `{ workflow(idOrIdentifier: "order-shipped") { id } notificationGroups { id }
         ${people.map((id) => `${id}: inbox(subscriberId: "${id}") { messages { messages { id } } }`).join(' ')} }`,
    );
    workflow = records.workflow.id;
    groups = records.notificationGroups.map(({ id }) => id);
    messages = people.map((id) => records[id].messages.messages[0].id);
    return () => gateway[Symbol.asyncDispose]();
  });

  const inboxOf = (i: number, selection: string) => `inbox(subscriberId: "${people[i]}") { ${selection} }`;
  const messageOf = (i: number) => inboxOf(i, 'messages { messages { seen cta { status } } }');
  const topicOf = (i: number) => `topic(key: "${topicKeys[i]}") { name subscriberIds }`;
  const SMS = 'channels: [{ channel: SMS, enabled: false }]';

  it.each<[field: string, input: (i: number) => string, query: (i: number) => string, changed: object]>([
    [
      'markAllMessages',
      (i) => `subscriberId: "${people[i]}", as: SEEN`,
      messageOf,
      { messages: { messages: [{ seen: true }] } },
    ],
    [
      'completeMessageAction',
      (i) => `subscriberId: "${people[i]}", messageId: "${messages[i]}", button: "primary"`,
      messageOf,
      { messages: { messages: [{ cta: { status: 'done' } }] } },
    ],
    [
      'updateGlobalPreferences',
      (i) => `subscriberId: "${people[i]}", ${SMS}`,
      (i) => inboxOf(i, 'globalPreferences { channels { sms } }'),
      { globalPreferences: { channels: { sms: false } } },
    ],
    [
      'updateWorkflowPreference',
      (i) => `subscriberId: "${people[i]}", workflowId: "${workflow}", channel: PUSH, enabled: false`,
      (i) => inboxOf(i, 'preferences { channels { push } }'),
      { preferences: expect.arrayContaining([{ channels: { push: false } }]) },
    ],
    [
      'updateNotificationGroup',
      (i) => `id: "${groups[i]}", name: "Renamed"`,
      (i) => `notificationGroup(id: "${groups[i]}") { name }`,
      { name: 'Renamed' },
    ],
    ['renameTopic', (i) => `key: "${topicKeys[i]}", name: "Renamed"`, topicOf, { name: 'Renamed' }],
    [
      'addSubscribersToTopic',
      (i) => `key: "${topicKeys[i]}", subscriberIds: ["bob"]`,
      topicOf,
      { subscriberIds: ['ann', 'bob'] },
    ],
    [
      'removeSubscribersFromTopic',
      (i) => `key: "${topicKeys[i]}", subscriberIds: ["ann"]`,
      topicOf,
      { subscriberIds: ['bob'] },
    ],
  ])('%s changes both, and a repetition is replayed', async (field, input, query, changed) => {
    const success = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}Success`;
    const run = async (i: number) => {
      const { result } = await gateway.data<{ result: unknown }>(
        `mutation { result: ${field}(input: { ${input(i)}, idempotencyKey: "nightly" }) { __typename ... on ${success} { replayed } } }`,
      );
      const { record } = await gateway.data<{ record: unknown }>(`{ record: ${query(i)} }`);
      return { result, record };
    };
    gateway.forget();
    for (const [i, replayed] of [
      [0, false],
      [1, false],
      [1, true],
      [0, true],
    ] as const) {
      const expected = { result: { __typename: success, replayed }, record: changed };
      expect(await run(i)).toMatchObject(expected);
    }
    const writes = gateway.upstream().filter(({ method }) => method !== 'GET');
    const [first, second, secondAgain, firstAgain] = keysOf(writes);
    expect(new Set(writes.map(({ body }) => body)).size).toBe(1);
    expect([firstAgain, secondAgain]).toEqual([first, second]);
    expect(second).not.toBe(first);
  });
});

it('one key for items of bulk mutations of a module, with equal bodies at the same position, is another one for each record, query and write', async () => {
  await using gateway = await startGateway({ service: () => ({ body: { data: {} } }), modules: [books] });
  const run = async (id: string) => {
    await gateway.run(
      `mutation { shelveBooks(input: { books: [{ id: "${id}", idempotencyKey: "nightly" }] }) { failed } }`,
    );
    return keysOf(gateway.service.requests.splice(0));
  };
  const [first, second, again] = [await run('1'), await run('2'), await run('1')];
  expect(new Set([...first, ...second]).size).toBe(6);
  expect(again).toEqual(first);
});
