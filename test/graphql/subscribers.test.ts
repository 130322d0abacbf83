import { readFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CreateSubscriberDocument, createClient } from '../../packages/client/src/index.ts';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import subscriberProfiles from '../../src/modules/shipped/subscribers.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { operations } from '../support/operations.ts';
import { feed, subscriber } from '../support/records.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { forwardTo, type ServiceResponse } from '../support/service.ts';

guards('src/modules/toolkit/mutation-failures.ts', 'toFailure');
guards('src/graphql/json-values.ts', 'countNodes');
guards('src/upstream/calls/upsert.ts', 'sendUpsert');
guards('src/upstream/transport/to-error.ts', 'isStoredInPart');

const { CreateSubscriber, CreateSubscribers } = operations;

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ subscriberId: `user-${i}` }));

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: 'sandbox' });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.forget());

it('createSubscriber with an existing subscriberId updates the record and replaces its data', async () => {
  const create = async (fields: object) => {
    const input = { subscriberId: 'upsert-1', ...fields };
    return (await gateway.data(CreateSubscriber, { input })).createSubscriber;
  };
  const first = await create({ firstName: 'Ada', data: { plan: 'free', seats: 1 } });
  const second = await create({ email: 'ada@example.com', data: { plan: 'team' } });
  const id = first && 'subscriber' in first ? first.subscriber.id : undefined;
  expect(second).toMatchObject({
    subscriber: { id, firstName: 'Ada', email: 'ada@example.com', data: { plan: 'team' } },
  });
});

it('createSubscribers returns one result per input in order, and a failure does not affect the others', async () => {
  await using gateway = await startGateway({
    service: ({ body }) => {
      const fields = JSON.parse(body);
      switch (fields.subscriberId) {
        case 'user-1':
          return { status: 422, body: { message: ['subscriberId is taboo'] } };
        case 'user-2':
          return { status: 503, body: {}, headers: { 'retry-after': '3' } };
        case 'user-3':
          return { status: 409, body: { message: 'Busy.' } };
        case 'user-4':
          return { status: 429, body: {}, headers: { 'retry-after': '9' } };
        default:
          return { status: 201, body: { data: subscriber(fields) } };
      }
    },
  });
  const { createSubscribers } = await gateway.data<{ createSubscribers: { results: unknown[] } }>(
    `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { succeeded failed results {
      ... on CreateSubscriberSuccess { subscriber { subscriberId } }
      ... on MutationError { __typename code }
      ... on InvalidInputError { issues { path } }
      ... on UpstreamFailure { status retryable retryAfterSeconds outcome } } } }`,
    { input: { subscribers: numbered(6) } },
  );
  expect(createSubscribers).toEqual({
    succeeded: 2,
    failed: 4,
    results: [
      { subscriber: { subscriberId: 'user-0' } },
      {
        __typename: 'InvalidInputError',
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'subscribers', '1', 'subscriberId'] }],
      },
      {
        __typename: 'UpstreamFailure',
        code: 'UPSTREAM_FAILURE',
        status: 503,
        retryable: false,
        retryAfterSeconds: 3,
        outcome: 'UNKNOWN',
      },
      { __typename: 'ConflictError', code: 'CONFLICT' },
      {
        __typename: 'UpstreamFailure',
        code: 'UPSTREAM_FAILURE',
        status: 429,
        retryable: true,
        retryAfterSeconds: 9,
        outcome: 'NOT_APPLIED',
      },
      { subscriber: { subscriberId: 'user-5' } },
    ],
  });
});

it('createSubscribers sends only the first of several items with the same subscriberId', async () => {
  await using gateway = await startGateway({
    service: ({ body }) => ({
      status: 201,
      body: { data: subscriber(JSON.parse(body)) },
    }),
  });
  const subscribers = [
    { subscriberId: 'a', email: 'first@example.com' },
    { subscriberId: 'b' },
    { subscriberId: 'a', phone: '+1', idempotencyKey: 'other' },
    { subscriberId: 'A' },
    { subscriberId: 'a', avatar: 'no URL' },
    { subscriberId: '..' },
    { subscriberId: '..' },
  ];
  const { createSubscribers } = await gateway.data<{ createSubscribers: { results: unknown[] } }>(
    `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { succeeded failed results {
      __typename ... on InvalidInputError { issues { path message } } } } }`,
    { input: { subscribers } },
  );
  const success = { __typename: 'CreateSubscriberSuccess' };
  const invalid = (index: number, ...issues: [name: string, message: string][]) => ({
    __typename: 'InvalidInputError',
    issues: issues.map(([name, message]) => ({ path: ['input', 'subscribers', String(index), name], message })),
  });
  const repeated = (first: number): [string, string] => [
    'subscriberId',
    `subscriberId is that of subscribers[${first}] too. Each must be in one item.`,
  ];
  const dots: [string, string] = ['subscriberId', 'subscriberId must not contain the path segments "." or "..".'];
  expect(createSubscribers).toEqual({
    succeeded: 3,
    failed: 4,
    results: [
      success,
      success,
      invalid(2, repeated(0)),
      success,
      invalid(4, ['avatar', 'avatar must be an http or https URL.'], repeated(0)),
      invalid(5, dots),
      invalid(6, dots, repeated(5)),
    ],
  });
  expect(gateway.service.requests.map(({ body }) => JSON.parse(body))).toEqual([
    { subscriberId: 'a', email: 'first@example.com' },
    { subscriberId: 'b' },
    { subscriberId: 'A' },
  ]);
});

it('createSubscribers sends 10 requests concurrently', async () => {
  await using gateway = await startGateway({
    service: ({ method, body }) =>
      method === 'GET' ? { body: [] } : { status: 201, body: { data: subscriber(JSON.parse(body)) } },
  });
  const { service } = gateway;
  await gateway.accept();
  const held = service.hold('POST /v1/subscribers', 100);
  const answer = gateway.data(CreateSubscribers, { input: { subscribers: numbered(100) } });
  await service.arrived(10);
  await gateway.data('{ notificationGroups { id } }', {}, { authorization: 'ApiKey other' }); // An eleventh call would have been sent before this one.
  expect(service.requests).toHaveLength(11);
  held.release();
  expect((await answer).createSubscribers).toMatchObject({ succeeded: 100, failed: 0 });
});

it('createSubscribers that times out reports which inputs have an unknown outcome and which were not sent', async () => {
  await using gateway = await startGateway({ service: () => {}, operationTimeoutMs: 1_000 }); // Time to send ten of them.
  await gateway.accept();
  const { createSubscribers } = await gateway.data<{
    createSubscribers: { failed: number; results: { outcome: string }[] };
  }>(
    `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { failed results {
      ... on UpstreamFailure { outcome } } } }`,
    { input: { subscribers: numbered(25) } },
  );
  expect(createSubscribers.failed).toBe(25);
  expect(createSubscribers.results.map(({ outcome }) => outcome)).toEqual([
    ...Array.from({ length: 10 }, () => 'UNKNOWN'),
    ...Array.from({ length: 15 }, () => 'NOT_APPLIED'),
  ]);
  expect(gateway.service.requests).toHaveLength(10);
});

it.each([0, 101])('createSubscribers rejects %i subscribers before any upstream call', async (count) => {
  const { body, codes } = await gateway.send(CreateSubscribers, { input: { subscribers: numbered(count) } });
  expect(codes).toEqual(['BAD_USER_INPUT']);
  expect(body.errors?.[0]?.message).toContain('must be between 1 and 100');
  expect(gateway.upstream()).toHaveLength(0);
});

it.each([
  ['a key __proto__ in a variable', 'query', JSON.parse('{"__proto__": 1}')],
  ['a key __proto__ in a literal', 'literal', '{ __proto__: 1 }'],
  ['33 levels in a variable', 'query', JSON.parse(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)],
  ['33 levels in a literal', 'literal', `${'{a:'.repeat(33)}1${'}'.repeat(33)}`],
  ['a list', 'query', [1]],
  ['an enum literal', 'literal', '{ a: RED }'],
])('data with %s is rejected before any upstream call', async (_, kind, data) => {
  const document = (variables: string, value: string) =>
    `mutation ${variables} { createSubscriber(input: { subscriberId: "u", data: ${value} }) { __typename } }`;
  const { body, codes } =
    kind === 'literal'
      ? await gateway.send(document('', data))
      : await gateway.send(document('($data: JSONObject)', '$data'), { data });
  expect(body.data).toBeUndefined();
  expect(codes).toHaveLength(1);
  expect(gateway.upstream()).toHaveLength(0);
});

it('data with 32 levels of any JSON arrives unchanged', async () => {
  const data = JSON.parse(`${'{"a":'.repeat(30)}{"list":[1,-2.5,"é\\u0000",null,true]}${'}'.repeat(30)}`);
  const { createSubscriber } = await gateway.data(CreateSubscriber, { input: { subscriberId: 'deep', data } });
  expect(createSubscriber).toMatchObject({ subscriber: { data } });
  expect(JSON.parse(gateway.upstream()[0]?.body ?? '').data).toEqual(data);
});

const FIELDS = ['subscriberId', 'email', 'firstName', 'lastName', 'phone', 'avatar', 'locale'] as const;

const SINGLE_LINE = 'must be a single line without control characters.';

describe('input that cannot be sent', () => {
  let gateway: GatewayWithService;
  beforeAll(async () => {
    gateway = await startGateway({
      service: ({ path, body }) => ({
        status: 201,
        body: { data: path.endsWith('/subscribers') ? subscriber(JSON.parse(body)) : feed() },
      }),
    });
    return () => gateway[Symbol.asyncDispose]();
  });
  beforeEach(() => gateway.service.forget());

  const RESULT = '{ __typename ... on InvalidInputError { code message issues { path message } } }';

  it.each(['\r\nBcc: b@example.com', '\t', '\u007f', '\u2028'])(
    'is rejected in every text of a single line that contains %j',
    async (text) => {
      for (const name of FIELDS) {
        const value = name === 'avatar' ? `https://example.com/${text}` : `a@example.com${text}`;
        const { createSubscriber } = await gateway.data<Record<string, unknown>>(
          `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) ${RESULT} }`,
          { input: { subscriberId: 'user-1', [name]: value } },
        );
        expect(createSubscriber).toEqual({
          __typename: 'InvalidInputError',
          code: 'INVALID_INPUT',
          message: `${name} ${SINGLE_LINE}`,
          issues: [{ path: ['input', name], message: `${name} ${SINGLE_LINE}` }],
        });
      }
      const names = await gateway.data<Record<string, unknown>>(
        `mutation ($name: String!) {
          feed: createFeed(input: { name: $name }) ${RESULT}
          group: createNotificationGroup(input: { name: $name }) ${RESULT}
          renamed: updateNotificationGroup(input: { id: "g1", name: $name }) ${RESULT}
        }`,
        { name: `News${text}` },
      );
      const invalid = expect.objectContaining({
        issues: [{ path: ['input', 'name'], message: `name ${SINGLE_LINE}` }],
      });
      expect(names).toEqual({ feed: invalid, group: invalid, renamed: invalid });
      expect(gateway.service.requests).toEqual([]);
    },
  );

  it.each(['javascript:alert(1)', '//example.com/a.png', 'https://', ''])(
    'is rejected if it is the avatar %j',
    async (avatar) => {
      const { createSubscriber } = await gateway.data<Record<string, unknown>>(
        `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) ${RESULT} }`,
        { input: { subscriberId: 'user-1', avatar } },
      );
      expect(createSubscriber).toMatchObject({
        issues: [{ path: ['input', 'avatar'], message: 'avatar must be an http or https URL.' }],
      });
      expect(gateway.service.requests).toEqual([]);
    },
  );

  it('is rejected with all of its problems, and only its own item of a bulk mutation', async () => {
    const subscribers = [
      { subscriberId: 'user-1', email: 'a@example.com\r\n', avatar: 'javascript:x', lastName: '\ud800' },
      { subscriberId: 'user-2' },
    ];
    const { createSubscribers } = await gateway.data<Record<string, unknown>>(
      `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { succeeded results ${RESULT} } }`,
      { input: { subscribers } },
    );
    const messages = [
      'avatar must be an http or https URL.',
      `email ${SINGLE_LINE}`,
      'lastName must be well-formed Unicode.',
    ];
    expect(createSubscribers).toEqual({
      succeeded: 1,
      results: [
        {
          __typename: 'InvalidInputError',
          code: 'INVALID_INPUT',
          message: messages.join(' '),
          issues: messages.map((message) => ({
            path: ['input', 'subscribers', '0', message.split(' ')[0]],
            message,
          })),
        },
        { __typename: 'CreateSubscriberSuccess' },
      ],
    });
    expect(gateway.service.requests).toHaveLength(1);
  });

  it('is not text in free-form objects, which can have several lines', async () => {
    const input = {
      subscriberId: 'user-1',
      firstName: 'Zoë\u200d O’Brien-Ōta',
      avatar: 'HTTP://example.com/a.png',
      data: { address: 'Main Street 1\r\nBerlin', avatar: 'file:x' },
      channels: [{ providerId: 'slack', note: 'a\nb' }],
    };
    const { createSubscriber } = await gateway.data<Record<string, unknown>>(
      `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) ${RESULT} }`,
      { input },
    );
    expect(createSubscriber).toEqual({ __typename: 'CreateSubscriberSuccess' });
    expect(JSON.parse(gateway.service.requests.at(-1)?.body ?? '')).toEqual(input);
  });
});

describe('what null or an empty list was to clear', () => {
  const STORED = {
    email: 'ada@example.com',
    phone: '+44 20',
    data: { plan: 'pro' },
    channels: [{ providerId: 'fcm' }],
  };

  /** Starts a gateway of a service from before 31 October 2025, which skips null for all fields but the email. */
  const startOld = () =>
    startGateway({
      service: ({ method, body }) => {
        const { subscriberId = 'user-1', ...fields } = JSON.parse(body);
        const kept = Object.entries(fields).filter(([name, value]) => value !== null || name === 'email');
        const record = subscriber({ ...STORED, ...Object.fromEntries(kept), subscriberId, channels: STORED.channels });
        return { status: method === 'POST' ? 201 : 200, body: { data: record } };
      },
      modules: [subscriberProfiles],
    });

  it('is named with its path in the input, if the service kept it, in all mutations', async () => {
    await using gateway = await startOld();
    const item = { email: null, phone: null, data: null, channels: [] };
    expect(
      await gateway.data(
        `mutation ($one: CreateSubscriberInput!, $many: CreateSubscribersInput!, $update: UpdateSubscriberInput!) {
          createSubscriber(input: $one) { ... on CreateSubscriberSuccess { uncleared } }
          createSubscribers(input: $many) { succeeded results { ... on CreateSubscriberSuccess { uncleared } } }
          updateSubscriber(input: $update) { ... on UpdateSubscriberSuccess { uncleared } }
        }`,
        {
          one: { subscriberId: 'user-1', ...item },
          many: {
            subscribers: [
              { subscriberId: 'a', firstName: 'A' },
              { subscriberId: 'b', phone: null, channels: null },
            ],
          },
          update: { subscriberId: 'user-1', phone: null, locale: null },
        },
      ),
    ).toEqual({
      createSubscriber: { uncleared: ['input.channels', 'input.data', 'input.phone'] },
      createSubscribers: {
        succeeded: 2,
        results: [{ uncleared: [] }, { uncleared: ['input.subscribers.1.channels', 'input.subscribers.1.phone'] }],
      },
      updateSubscriber: { uncleared: ['input.phone'] },
    });
    const [first] = gateway.service.requests;
    expect(JSON.parse(first?.body ?? '')).toEqual({ subscriberId: 'user-1', ...item });
    const warnings = gateway.log.filter(({ msg }) => String(msg).includes('31 October 2025'));
    expect(warnings.map(({ method, route }) => `${method} ${route}`).toSorted()).toEqual([
      'POST /v1/subscribers',
      'PUT /v1/subscribers/{subscriberId}',
    ]);
  });

  it('reaches apps with the shipped document', async () => {
    await using gateway = await startOld();
    const client = createClient({ url: gateway.url, authorization: 'ApiKey a' });
    const { data } = await client.request(CreateSubscriberDocument, { input: { subscriberId: 'user-1', phone: null } });
    const result = data?.createSubscriber;
    expect(result?.__typename === 'CreateSubscriberSuccess' && result.uncleared).toEqual(['input.phone']);
  });

  it('is cleared if the response has no value, and other differences are not listed', async () => {
    for (const cleared of [{}, { phone: null, data: null }, { phone: '', data: {} }]) {
      await using gateway = await startGateway({
        service: () => ({
          status: 201,
          body: { data: { ...subscriber(), email: 'ada@example.com', channels: [], ...cleared } },
        }),
      });
      const input = { subscriberId: 'user-1', email: 'Ada@Example.com', phone: null, data: null, channels: [] };
      const created = await gateway.data(CreateSubscriber, { input });
      expect(created).toMatchObject({ createSubscriber: { uncleared: [] } });
      expect(gateway.log.filter(({ msg }) => String(msg).includes('was to clear'))).toEqual([]);
    }
  });
});

describe('a service that fails with 500', () => {
  const SUCCESS =
    '__typename ... on CreateSubscriberSuccess { replayed subscriber { subscriberId firstName phone email channels } }';
  const CREATE = `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) { ${SUCCESS} } }`;
  const CREATE_ALL = `mutation ($input: CreateSubscribersInput!) {
    createSubscribers(input: $input) { succeeded results { ${SUCCESS} ... on UpstreamFailure { status outcome message } } }
  }`;
  const DELETE = 'mutation ($id: ID!) { deleteSubscriber(input: { subscriberId: $id }) { __typename } }';
  const FAILURE = {
    status: 500,
    body: { statusCode: 500, message: 'Internal server error, contact support', errorId: 'err-1' },
  };

  const created = (fields: Parameters<typeof subscriber>[0]): ServiceResponse => ({
    status: 201,
    body: { data: subscriber(fields) },
  });

  /** Starts a gateway of a service that returns one response after the other, and the last one from then on. */
  const startFailing = (...responses: (ServiceResponse | undefined)[]) =>
    startGateway({ service: () => (responses.length > 1 ? responses.shift() : responses[0]) ?? undefined });

  const keysOf = ({ service }: Pick<GatewayWithService, 'service'>) =>
    service.requests.map(({ headers }) => headers['idempotency-key']);

  const [POST, BULK] = ['POST /v1/subscribers', 'POST /v1/subscribers/bulk'];

  it('because another creation was faster applies the second request, with a key of its own', async () => {
    await using gateway = await startFailing(FAILURE, created({ subscriberId: 'user-1', email: 'ada@example.com' }));
    const input = { subscriberId: 'user-1', email: 'ada@example.com', idempotencyKey: 'once' };
    expect(await gateway.data(CREATE, { input })).toMatchObject({
      createSubscriber: { replayed: false, subscriber: { subscriberId: 'user-1', email: 'ada@example.com' } },
    });
    expect(gateway.service.calls()).toEqual([POST, POST]);
    const [first, second] = gateway.service.requests;
    expect(second?.body).toBe(first?.body);
    expect(new Set(keysOf(gateway)).size).toBe(2);
  });

  describe('because it keeps deleted subscribers', () => {
    let gateway: GatewayWithService;
    beforeAll(async () => {
      const sandbox = await startSandbox({ traits: ['soft-deletions'] });
      gateway = await startGateway({ service: forwardTo(sandbox.url), modules: [subscriberProfiles] });
      return async () => {
        await gateway[Symbol.asyncDispose]();
        await sandbox.close();
      };
    });

    /** Creates and deletes a subscriber. */
    async function remove(subscriberId: string): Promise<void> {
      await gateway.data(CREATE, { input: { subscriberId, firstName: 'Ada', phone: '+44 20' } });
      expect(await gateway.data(DELETE, { id: subscriberId })).toEqual({
        deleteSubscriber: { __typename: 'DeleteSubscriberSuccess' },
      });
      gateway.forget();
    }

    it('gets the subscriber through its bulk endpoint, without a read that it would remember, and then its channels', async () => {
      await remove('back-1');
      const fields = { subscriberId: 'back-1', email: 'ada@example.com', firstName: null };
      const channels = [{ providerId: 'slack', credentials: { webhookUrl: 'https://hooks.example.com/1' } }];
      const { createSubscriber } = await gateway.data(CREATE, { input: { ...fields, channels } });
      expect(createSubscriber).toMatchObject({
        __typename: 'CreateSubscriberSuccess',
        subscriber: { subscriberId: 'back-1', email: 'ada@example.com', firstName: null, phone: '+44 20', channels },
      });
      expect(gateway.service.calls()).toEqual([POST, POST, BULK, POST]);
      expect(JSON.parse(gateway.service.requests[2]?.body ?? '')).toEqual({ subscribers: [fields] });
      expect(await gateway.data('{ subscriber(subscriberId: "back-1") { email deleted } }')).toEqual({
        subscriber: { email: 'ada@example.com', deleted: false },
      });
    });

    it('replays the creation with the same idempotency key, and brings back nobody who was deleted again', async () => {
      await remove('back-2');
      const input = { subscriberId: 'back-2', email: 'ada@example.com', idempotencyKey: 'once' };
      const before = await gateway.data(CREATE, { input });
      const [first, second, bulk, third] = keysOf(gateway);
      expect([new Set([first, second, third]).size, bulk]).toEqual([3, undefined]);
      await gateway.data(DELETE, { id: 'back-2' });
      gateway.forget();
      const { createSubscriber } = await gateway.data<Record<string, object>>(CREATE, { input });
      expect(createSubscriber).toEqual({ ...Object(before).createSubscriber, replayed: true });
      expect(gateway.service.calls()).toEqual([POST, POST, POST]);
      expect(keysOf(gateway)).toEqual([first, second, third]);
      expect(await gateway.data('{ subscriber(subscriberId: "back-2") { email } }')).toEqual({ subscriber: null });
    });

    it('does so for each item of a list that is as long as it may be', async () => {
      const ids = numbered(100).map(({ subscriberId }) => subscriberId);
      const deleted = ids.filter((_, i) => i % 4 === 0);
      for (const id of deleted) {
        await remove(id);
      }
      const { createSubscribers } = await gateway.data<{ createSubscribers: { results: object[] } }>(CREATE_ALL, {
        input: { subscribers: ids.map((subscriberId) => ({ subscriberId, email: `${subscriberId}@example.com` })) },
      });
      expect(createSubscribers).toMatchObject({ succeeded: 100 });
      const phones = createSubscribers.results.map((result) => Object(result).subscriber.phone);
      expect(phones).toEqual(ids.map((id) => (deleted.includes(id) ? '+44 20' : null)));
      expect(gateway.upstream(BULK)).toHaveLength(25);
      expect(gateway.upstream()).toHaveLength(175);
    });
  });

  it('forever is UNKNOWN after four requests, also for an item', async () => {
    await using gateway = await startFailing(FAILURE, FAILURE, { status: 201, body: { data: {} } }, FAILURE);
    const { body, codes } = await gateway.send(CREATE, { input: { subscriberId: 'user-1' } });
    expect(codes).toEqual(['UPSTREAM_ERROR']);
    expect(body.errors?.[0]).toMatchObject({
      message:
        'The notification service failed on this request. The change may have been applied. Check before sending it again.',
      extensions: {
        outcome: 'UNKNOWN',
        retryable: false,
        errorId: 'err-1',
        upstream: { status: 500, route: '/v1/subscribers' },
      },
    });
    expect(gateway.service.calls()).toEqual([POST, POST, BULK, POST]);
    gateway.forget();
    expect(await gateway.data(CREATE_ALL, { input: { subscribers: [{ subscriberId: 'user-1' }] } })).toMatchObject({
      createSubscribers: {
        succeeded: 0,
        results: [{ __typename: 'UpstreamFailure', status: 500, outcome: 'UNKNOWN' }],
      },
    });
    expect(gateway.service.calls()).toEqual([POST, POST, BULK]); // The bulk endpoint fails too.
  });

  it.each([
    ['answers with a router', { status: 404, body: { statusCode: 404, message: 'Cannot POST /v1/subscribers/bulk' } }],
    ['allows no POST', { status: 405, body: { statusCode: 405, message: 'Method Not Allowed' } }],
  ])('and in place of its bulk endpoint %s says what to do', async (_, response) => {
    await using gateway = await startFailing(FAILURE, FAILURE, response);
    const { body } = await gateway.send(CREATE, { input: { subscriberId: 'user-1' } });
    expect(body.errors?.[0]).toMatchObject({
      message: expect.stringContaining('If the record was deleted, use another id. The change may'),
      extensions: {
        code: 'UPSTREAM_ERROR',
        outcome: 'UNKNOWN',
        errorId: 'err-1',
        upstream: { status: 500, route: '/v1/subscribers' },
      },
    });
    expect(gateway.service.calls()).toEqual([POST, POST, BULK]);
  });

  it.each([
    ['rejects the second request', [FAILURE, { status: 422, body: { message: ['email must be an email'] } }]],
    ['rejects the bulk request', [FAILURE, FAILURE, { status: 422, body: { message: ['email must be an email'] } }]],
  ])('and then %s leaves the outcome UNKNOWN', async (_, responses) => {
    await using gateway = await startFailing(...responses);
    const { body } = await gateway.send(CREATE, { input: { subscriberId: 'user-1', email: 'a' } });
    expect(body.errors?.[0]).toMatchObject({
      message: expect.stringContaining('The change may have been applied.'),
      extensions: { code: 'BAD_USER_INPUT', outcome: 'UNKNOWN' },
    });
    expect(gateway.service.requests).toHaveLength(responses.length);
  });

  it.each([501, 502, 503, 504])('is another one than %i, after which a creation is not sent again', async (status) => {
    await using gateway = await startFailing({ status, body: {} });
    expect(await gateway.send(CREATE, { input: { subscriberId: 'user-1' } })).toMatchObject({
      body: { errors: [{ extensions: { outcome: 'UNKNOWN' } }] },
    });
    expect(gateway.service.calls()).toEqual([POST]);
  });

  it('is asked nothing more once the client has left', async () => {
    await using gateway = await startFailing(FAILURE, FAILURE, { status: 201, body: { data: {} } }, FAILURE);
    const document = 'mutation { createSubscriber(input: { subscriberId: "a" }) { __typename } }';
    const release = await gateway.disconnectDuring(BULK, document);
    await gateway.service.allClosed(); // The gateway has noticed it.
    release();
    await gateway.run('{ notificationGroups { id } }', 'b');
    expect(gateway.service.calls().slice(0, 4)).toEqual([POST, POST, BULK, 'GET /v1/notification-groups']);
  });
});

describe('channels that the service refuses', () => {
  const ID = 'refused-1';
  const PROBLEM = 'do not have active unknown integration.';
  const input = { subscriberId: ID, firstName: 'Ada', channels: [{ providerId: 'unknown' }] };
  const CREATE = `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) {
    __typename ... on InvalidInputError { issues { path } } } }`;

  it('after it has stored the other fields leave the outcome UNKNOWN', async () => {
    await using sandbox = await startSandbox();
    const folder = await createTestFolder();
    const audit = { to: { file: folder.path('audit.jsonl') }, required: false };
    await using gateway = await startGateway({ service: forwardTo(sandbox.url), modules: [subscriberProfiles], audit });
    const { body, codes } = await gateway.send(CREATE, { input });
    expect([body.data, codes]).toEqual([{ createSubscriber: null }, ['BAD_USER_INPUT']]);
    expect(body.errors?.[0]).toMatchObject({
      message: expect.stringContaining(`${PROBLEM} The change may have been applied.`),
      extensions: { outcome: 'UNKNOWN', retryable: false, upstream: { status: 400 } },
    });
    expect(await gateway.data(`{ subscriber(subscriberId: "${ID}") { firstName channels } }`)).toEqual({
      subscriber: { firstName: 'Ada', channels: [] },
    });
    const item = await gateway.data(
      `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) {
        failed results { __typename ... on UpstreamFailure { message status retryable outcome } } } }`,
      { input: { subscribers: [input, { subscriberId: 'refused-2' }] } },
    );
    expect(item.createSubscribers).toEqual({
      failed: 1,
      results: [
        {
          __typename: 'UpstreamFailure',
          message: expect.stringContaining(`${PROBLEM} The change may have been applied.`),
          status: 400,
          retryable: false,
          outcome: 'UNKNOWN',
        },
        { __typename: 'CreateSubscriberSuccess' },
      ],
    });
    const lines = (await readFile(audit.to.file, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).outcome)).toEqual(['UNKNOWN', 'UNKNOWN', 'APPLIED']);
  });

  it.each([
    ['400 about a field', 400, input, ['email must be an email'], ['input', 'email']],
    ['422', 422, input, 'No.', ['input']],
    ['400 to an empty list of them', 400, { ...input, channels: [] }, 'No.', ['input']],
    ['400 to a creation without any', 400, { subscriberId: ID }, 'No.', ['input']],
  ])('are not the reason for a %s, after which nothing was stored', async (_, status, fields, message, path) => {
    await using gateway = await startGateway({ service: () => ({ status, body: { statusCode: status, message } }) });
    expect(await gateway.data(CREATE, { input: { ...fields, email: 'a' } })).toEqual({
      createSubscriber: { __typename: 'InvalidInputError', issues: [{ path }] },
    });
  });
});
