import type { JWTPayload } from 'jose';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { operations } from '../support/operations.ts';
import { group } from '../support/records.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/graphql/mutations.ts', 'deriveIdempotencyKey');

const { CreateFeed, CreateNotificationGroup, CreateSubscribers } = operations;

const keysOf = (exchanges: readonly { headers: Record<string, unknown> }[]) =>
  exchanges.map(({ headers }) => headers['idempotency-key']);

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

it('a reused key with another input is a conflict with an explanation', async () => {
  const create = (name: string) =>
    gateway.data<{ createFeed: unknown }>(
      'mutation ($input: CreateFeedInput!) { createFeed(input: $input) { __typename ... on ConflictError { reason } } }',
      { input: { name, idempotencyKey: 'reused' } },
    );
  expect((await create('One')).createFeed).toEqual({ __typename: 'CreateFeedSuccess' });
  expect((await create('Two')).createFeed).toEqual({ __typename: 'ConflictError', reason: 'IDEMPOTENCY_KEY_REUSED' });
});

it('a key whose first request is still in flight is a conflict with an explanation', async () => {
  await using gateway = await startGateway({
    service: () => ({
      status: 409,
      headers: { 'retry-after': '1' },
      body: { message: 'The first one still runs.' },
    }),
  });
  const rename = (idempotencyKey?: string) =>
    gateway.data<{ updateNotificationGroup: unknown }>(
      'mutation ($input: UpdateNotificationGroupInput!) { updateNotificationGroup(input: $input) { ... on ConflictError { reason } } }',
      { input: { id: 'g1', name: 'n', ...(idempotencyKey !== undefined && { idempotencyKey }) } },
    );
  expect((await rename('key')).updateNotificationGroup).toEqual({ reason: 'IDEMPOTENCY_IN_PROGRESS' });
  expect((await rename()).updateNotificationGroup).toEqual({ reason: 'OTHER' });
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
