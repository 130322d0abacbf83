import { beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import { defineModule } from '../../src/modules/module.ts';
import events from '../../src/modules/shipped/events.ts';
import subscriberProfiles from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { REFUSED_IDS } from '../support/field-contract.ts';
import { deviationsIn, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { subscriber, workflow } from '../support/records.ts';
import { createSandboxClient } from '../support/sandbox-client.ts';

guards('src/graphql/values.ts', 'listOf');
guards('src/upstream/transport/reasons.ts', 'readReasons.read');

const modules = [events, topics, subscriberProfiles];

const FAILURE = '__typename ... on MutationError { message } ... on InvalidInputError { issues { path message } }';
const CREATE = `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) { ${FAILURE} } }`;
const CREATE_ALL = `mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { results { ${FAILURE} } } }`;
const UPDATE = `mutation ($input: UpdateSubscriberInput!) { updateSubscriber(input: $input) { ${FAILURE} } }`;
const TRIGGER = `mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { ${FAILURE} } }`;
const TRIGGER_ALL = `mutation ($events: [EventInput!]!) { triggerEvents(input: { events: $events }) { ${FAILURE} } }`;

const LENA = {
  subscriberId: 'user-1',
  email: 'lena@mail.example',
  firstName: 'Lena',
  channels: [{ providerId: 'fcm' }],
};
const EVENT = { workflow: 'order-paid', subscriberIds: ['user-1'], payload: { total: 7 } };

interface Invalid {
  __typename: string;
  message: string;
  issues: { path: string[]; message: string }[];
}

const gateway = ofFile(await startGateway({ service: () => {}, modules }));

/** Returns the result of the only field. */
async function resultOf(document: string, variables: object) {
  return Object.values(await gateway.data<Record<string, Invalid>>(document, { ...variables }))[0];
}

const fail = (status: number, body: object) => {
  gateway.service.script = () => ({ status, body: { statusCode: status, ...body } });
};

describe('why a field is invalid', () => {
  const create = () => resultOf(CREATE, { input: LENA });

  it('R10: 422 with messages per field is an issue per message, without the value', async () => {
    fail(422, {
      message: 'Validation Error',
      errors: { email: { messages: ['email must be a valid email address'], value: LENA.email } },
    });
    expect(await create()).toEqual({
      __typename: 'InvalidInputError',
      message: 'Validation Error; email must be a valid email address',
      issues: [{ path: ['input', 'email'], message: 'email must be a valid email address' }],
    });
    expect(JSON.stringify([await create(), gateway.log])).not.toContain(LENA.email);
  });

  it('R10: 422 for one of several subscribers has the path of that item', async () => {
    fail(422, { message: 'Validation Error', errors: { email: { messages: ['Too long'], value: 'x' } } });
    const { createSubscribers } = await gateway.data<{ createSubscribers: { results: Invalid[] } }>(CREATE_ALL, {
      input: { subscribers: [LENA, { subscriberId: 'user-2' }] },
    });
    expect(createSubscribers.results.map(({ issues }) => issues)).toEqual([
      [{ path: ['input', 'subscribers', '0', 'email'], message: 'Too long' }],
      [{ path: ['input', 'subscribers', '1', 'email'], message: 'Too long' }],
    ]);
    expect(createSubscribers.results[0]?.message).toBe('Validation Error; email: Too long');
  });

  const issue = (message: string, ...path: string[]) => ({ path: ['input', ...path], message });

  it.each<[string, number, object, Invalid['issues']]>([
    ['no field', 422, { errors: { general: { messages: ['Too many.'], value: 'x' } } }, [issue('Too many.')]],
    [
      'texts per field',
      400,
      { errors: { email: 'Invalid', phone: ['Too short', 'Not a number'] } },
      [issue('Invalid', 'email'), issue('Too short', 'phone'), issue('Not a number', 'phone')],
    ],
    ['a cause', 400, { message: 'Bad', cause: { email: ['Invalid'], code: 'E11000' } }, [issue('Invalid', 'email')]],
    ['a list of texts', 400, { errors: ['email is bad', 'Other'] }, [issue('email is bad', 'email'), issue('Other')]],
    [
      'constraints',
      400,
      { message: [{ property: 'email', target: LENA, value: 'x', constraints: { isEmail: 'Bad' } }] },
      [issue('Bad', 'email')],
    ],
    [
      'a name of the record before the field',
      422,
      { errors: { 'subscriber.email': { messages: ['Bad'] } } },
      [issue('Bad', 'email')],
    ],
    [
      'a member of a list',
      422,
      { errors: { 'channels[0].credentials': { messages: ['Bad'] } } },
      [issue('Bad', 'channels', '0', 'credentials')],
    ],
    [
      'a sentence about a member of a list',
      422,
      { message: ['channels.0 is bad', '"firstName" is bad'] },
      [issue('channels.0 is bad', 'channels', '0'), issue('"firstName" is bad', 'firstName')],
    ],
    [
      'one object',
      400,
      { errors: { field: 'email', message: 'Bad', value: 'lena@mail.example' } },
      [issue('Bad', 'email')],
    ],
    ['a message and messages of fields', 422, { message: ['A', 'B'], errors: { email: ['C'] } }, [issue('C', 'email')]],
  ])('R10: in the form of %s is an issue', async (_, status, body, issues) => {
    fail(status, body);
    expect((await create())?.issues).toEqual(issues);
  });

  it.each<[string, object]>([
    ['nothing', {}],
    [
      'odd values',
      { message: { value: LENA.email }, errors: { email: { value: LENA.email }, value: LENA.email, phone: 7 } },
    ],
    ['a cause that is an error', { cause: { name: 'MongoError', keyValue: { email: LENA.email } } }],
    ['blanks', { message: ['', ' \n'], errors: [null, [[[['deep']]]], { message: '' }] }],
  ])('R10: an unreadable reason (%s) is the issue of the whole input', async (_, body) => {
    fail(422, body);
    const message = 'The notification service rejected the input.';
    expect(await create()).toEqual({ __typename: 'InvalidInputError', message, issues: [issue(message)] });
  });

  it('R10: a name that can be something else is not part of a path', async () => {
    const key = 'canary-key-8d1f-77aa';
    fail(422, {
      errors: {
        'lena@mail.example': ['One'],
        '<b>': ['Two'],
        [key]: ['Three'],
        [`${key}.x`]: ['x is bad'],
        [`a.${'b.'.repeat(20)}c`]: ['Four'],
        ['x'.repeat(65)]: ['Five'],
        email: [`Six ${key}`, 'Seven'],
      },
    });
    const { body } = await gateway.send(CREATE, { input: LENA }, { authorization: `ApiKey ${key}` });
    expect(body.data).toMatchObject({
      createSubscriber: {
        issues: [issue('One'), issue('Two'), issue('Four'), issue('Five'), issue('Seven', 'email')],
      },
    });
    expect(JSON.stringify([body, gateway.log])).not.toContain(key);
  });

  it('R10: reasons are bounded in number and length', async () => {
    const failWith = (text: string, message = '') =>
      fail(422, { message, errors: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, [text]])) });
    failWith('Bad');
    expect((await create())?.issues).toHaveLength(20);
    failWith('x'.repeat(600));
    const result = await create();
    expect(result?.issues.map(({ message }) => message.length)).toEqual([500, 500, 500, 500, 500, 500]);
    expect(result?.message).toHaveLength(500);
    failWith('Bad', 'é'.repeat(1_000)); // 2 KB of the 4 KB.
    expect((await create())?.issues).toHaveLength(20);
    failWith('y'.repeat(1_100), 'é'.repeat(1_000));
    expect((await create())?.issues).toHaveLength(2);
  });

  it('R10: characters that change how others are shown are left out, and letters of all languages stay', async () => {
    fail(422, { errors: { email: ['a\u202eb\u2066\u2069\u200fc\ufeffd\u2028e\u0085f', 'Zoë 日本 🙂 ñ'] } });
    const { body } = await gateway.send(CREATE, { input: LENA });
    const shown = ['abcd e f', 'Zoë 日本 🙂 ñ'];
    expect(body.data).toMatchObject({
      createSubscriber: {
        issues: shown.map((text) => issue(text, 'email')),
        message: `email: ${shown.join('; email: ')}`,
      },
    });
  });

  it('R10: a read has the reasons in its message', async () => {
    fail(422, { message: 'Validation Error', errors: { limit: { messages: ['Too high'], value: 'x' } } });
    const { body } = await gateway.send('{ subscribers(limit: 100) { hasMore } }');
    expect(body.errors).toMatchObject([
      { message: 'Validation Error; limit: Too high', extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  it('R11: 400 for the payload of an event is an issue at its member', async () => {
    fail(400, { message: 'Payload is invalid', errors: [{ field: 'orderId', message: 'is required', value: 'x' }] });
    expect(await resultOf(TRIGGER, { event: EVENT })).toEqual({
      __typename: 'InvalidInputError',
      message: 'Payload is invalid; orderId: is required',
      issues: [issue('is required', 'event', 'payload', 'orderId')],
    });
  });

  it('R11: the members of an event have the names of the input', async () => {
    const event = {
      ...EVENT,
      subscribers: [{ subscriberId: 'b', email: 'b@mail.example' }],
      topicKeys: ['t'],
      actorId: 'c',
    };
    const fields = [
      'name',
      'to[0]',
      'to.1.email',
      'to.2.topicKey',
      'to.9',
      'actor',
      'payload.total',
      '/total',
      'body.overrides.x',
    ];
    fail(400, { errors: fields.map((field) => ({ field, message: 'Bad' })) });
    const result = await resultOf(TRIGGER, { event });
    expect(result?.issues.map(({ path }) => path.join('.'))).toEqual([
      'input.event.workflow',
      'input.event.subscriberIds.0',
      'input.event.subscribers.0.email',
      'input.event.topicKeys.0',
      'input.event',
      'input.event.actorId',
      'input.event.payload.total',
      'input.event.payload.total',
      'input.event.overrides.x',
    ]);
  });

  it('R11: of several events, the one that the service names', async () => {
    const pathsOf = async (count: number, ...fields: string[]) => {
      fail(400, { errors: fields.map((field) => ({ field, message: 'Bad' })) });
      const result = await resultOf(TRIGGER_ALL, { events: Array.from({ length: count }, () => EVENT) });
      return result?.issues.map(({ path }) => path.join('.'));
    };
    expect(await pathsOf(3, 'events.2.payload.orderId', 'events[1].to.0', 'events.1.name', 'orderId')).toEqual([
      'input.events.2.payload.orderId',
      'input.events.1.subscriberIds.0',
      'input.events.1.workflow',
      'input',
    ]);
    expect(await pathsOf(1, 'orderId')).toEqual(['input.events.0.payload.orderId']);
  });

  it('R12: an exception of a schema is an issue at its path', async () => {
    fail(400, {
      errors: [
        { path: ['email'], message: 'Invalid email', code: 'custom', received: LENA.email },
        { path: ['channels', 0, 'credentials'], message: 'Required', code: 'invalid_type' },
        { path: 'firstName', message: 'Too short' },
        { path: '/v1/subscribers', message: 'Bad' },
        { path: [], message: 'Unknown' },
      ],
    });
    expect(await create()).toEqual({
      __typename: 'InvalidInputError',
      message: 'Invalid email; channels.0.credentials: Required; firstName: Too short; Bad; Unknown',
      issues: [
        issue('Invalid email', 'email'),
        issue('Required', 'channels', '0', 'credentials'),
        issue('Too short', 'firstName'),
        issue('Bad'),
        issue('Unknown'),
      ],
    });
  });

  it('R12: members of a body have the names of the input', async () => {
    fail(400, { errors: [{ path: ['subscribers', 1], message: 'Bad' }] });
    const document = `mutation { addSubscribersToTopic(input: { key: "k", subscriberIds: ["a", "b"] }) { ${FAILURE} } }`;
    expect((await resultOf(document, {}))?.issues).toEqual([issue('Bad', 'subscriberIds', '1')]);
  });

  it.each([
    ['NotFoundError', ['Feed f1 was not found', 'Could not find the feed with id f1', "Feed with id f1 doesn't exist"]],
    [
      'InvalidInputError',
      [
        'Layout with id x not found, it has no feed',
        'Feed is used by a template that does not exist',
        'This feed has no members that can be removed',
        'Environment not found',
        'Feed f1 is used by f2, which was not found',
      ],
    ],
  ])('3.2: a 400 for deleteFeed is %s, depending on what is absent', async (typename, messages) => {
    for (const message of messages) {
      fail(400, { message });
      const result = await resultOf(`mutation { deleteFeed(input: { id: "f1" }) { ${FAILURE} } }`, {});
      expect(result, message).toMatchObject({ __typename: typename, message });
    }
  });
});

describe('a subscriber that does not exist', () => {
  const UNKNOWN = `${FAILURE.replace('__typename', '__typename ... on NotFoundError { resource requestedId }')}`;
  const DELETE = `mutation ($id: ID!) { deleteSubscriber(input: { subscriberId: $id }) { ${UNKNOWN} } }`;
  const CHANGE = `mutation ($id: ID!) { updateSubscriber(input: { subscriberId: $id, phone: "+1" }) { ${UNKNOWN} } }`;

  it.each(['user-1', 'ada lovelace', 'u', 'subscriber', 'a@b.example'])(
    'is a NotFoundError in each form in which services say it (%s)',
    async (id) => {
      for (const [document, status, message] of [
        [CHANGE, 400, `SubscriberId: ${id} not found`],
        [CHANGE, 404, `Subscriber ${id} not found`],
        [DELETE, 400, `Could not find subscriber ${id} to delete`],
        [DELETE, 404, `Subscriber with id ${id} not found`],
      ] as const) {
        fail(status, { message });
        const result = await resultOf(document, { id });
        expect(result, message).toEqual({
          __typename: 'NotFoundError',
          resource: 'Subscriber',
          requestedId: id,
          message,
        });
      }
    },
  );

  it('is not what another 400 says', async () => {
    for (const message of [
      'SubscriberId: must be a string',
      'Subscriber user-1 is used by a topic that was not found',
      'phone is not valid',
    ]) {
      fail(400, { message });
      for (const document of [CHANGE, DELETE]) {
        expect(await resultOf(document, { id: 'user-1' }), message).toMatchObject({ __typename: 'InvalidInputError' });
      }
    }
  });
});

describe('an id', () => {
  const IDS = { ...REFUSED_IDS, blanks: '   ', 'a no-break space': '\u00a0' };
  const name = 'n';
  const event = { workflow: 'w', subscriberIds: ['a'] };

  const mutation = (parameters: string, field: string) => `mutation (${parameters}) { ${field} { ${FAILURE} } }`;
  const CREATE_TOPIC = mutation('$input: CreateTopicInput!', 'createTopic(input: $input)');
  const DELETE = mutation('$id: ID!', 'deleteSubscriber(input: { subscriberId: $id })');
  const ADD = mutation('$ids: [ID!]!', 'addSubscribersToTopic(input: { key: "k", subscriberIds: $ids })');
  const REMOVE = mutation('$ids: [ID!]!', 'removeSubscribersFromTopic(input: { key: "k", subscriberIds: $ids })');

  /** Paths of an id that the service would store, mutations, and their variables. */
  const USES: [path: string, document: string, variables: (id: string) => object][] = [
    ['input.subscriberId', CREATE, (id) => ({ input: { subscriberId: id } })],
    ['input.subscriberId', UPDATE, (id) => ({ input: { subscriberId: id, email: 'a@b.example' } })],
    ['input.subscriberId', DELETE, (id) => ({ id })],
    ['input.key', CREATE_TOPIC, (id) => ({ input: { key: id, name } })],
    ['input.subscriberIds.1', ADD, (id) => ({ ids: ['a', id] })],
    ['input.subscriberIds.0', REMOVE, (id) => ({ ids: [id] })],
    ['input.event.subscriberIds.1', TRIGGER, (id) => ({ event: { ...event, subscriberIds: ['a', id] } })],
    [
      'input.event.subscribers.0.subscriberId',
      TRIGGER,
      (id) => ({ event: { ...event, subscribers: [{ subscriberId: id }] } }),
    ],
    ['input.event.topicKeys.0', TRIGGER, (id) => ({ event: { ...event, topicKeys: [id] } })],
    ['input.event.actorId', TRIGGER, (id) => ({ event: { ...event, actorId: id } })],
    ['input.event.transactionId', TRIGGER, (id) => ({ event: { ...event, transactionId: id } })],
    ['input.events.1.actorId', TRIGGER_ALL, (id) => ({ events: [event, { ...event, actorId: id }] })],
  ];

  beforeAll(() => {
    gateway.service.script = ({ body }) => ({ status: 201, body: { data: subscriber(JSON.parse(body)) } });
    gateway.service.forget();
  });

  it('with a slash is sent in a body, because there are people with such ids', async () => {
    for (const [document, variables] of [
      [CREATE, { input: { subscriberId: 'team/ada' } }],
      [TRIGGER, { event: { ...event, subscriberIds: ['team/ada'] } }],
    ] as const) {
      gateway.service.forget();
      await gateway.send(document, variables);
      expect(gateway.service.requests.map(({ body }) => body)).toEqual([expect.stringContaining('"team/ada"')]);
    }
    gateway.service.forget();
  });

  it.each(USES)(
    'R16: that could not be read is invalid at %s of %s before any call',
    async (path, document, variables) => {
      for (const [kind, id] of Object.entries(IDS)) {
        expect(await resultOf(document, variables(id)), kind).toMatchObject({
          __typename: 'InvalidInputError',
          issues: [{ path: path.split('.'), message: expect.stringContaining(path.split('.').at(-1) ?? '') }],
        });
      }
      expect(gateway.service.requests).toHaveLength(0);
    },
  );

  it('R16: of blanks is invalid for reads too', async () => {
    const { codes } = await gateway.send('{ subscriber(subscriberId: "  ") { email } topic(key: "\u00a0") { name } }');
    expect(codes).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    expect(gateway.service.requests).toHaveLength(0);
  });

  it('R16: that is invalid fails only its own item of several', async () => {
    const { createSubscribers } = await gateway.data<{ createSubscribers: { results: Invalid[] } }>(CREATE_ALL, {
      input: { subscribers: [{ subscriberId: '..' }, { subscriberId: 'ok' }] },
    });
    const path = ['input', 'subscribers', '0', 'subscriberId'];
    const message = 'subscriberId must not contain the path segments "." or "..".';
    expect(createSubscribers.results).toEqual([
      { __typename: 'InvalidInputError', message, issues: [{ path, message }] },
      { __typename: 'CreateSubscriberSuccess' },
    ]);
    expect(gateway.service.requests.map(({ body }) => JSON.parse(body))).toEqual([{ subscriberId: 'ok' }]);
    gateway.service.forget();
  });

  it('R16: problems of a long list are bounded', async () => {
    const ids = Array.from({ length: 100 }, () => '');
    const result = await resultOf(TRIGGER, { event: { ...event, subscriberIds: ids } });
    expect(result?.issues).toHaveLength(20);
  });

  it('R16: is invalid in an explained operation too', async () => {
    const { body } = await gateway.send(CREATE, { input: { subscriberId: '..' } }, { extensions: { explain: true } });
    expect(body).toMatchObject({
      data: { createSubscriber: { __typename: 'InvalidInputError' } },
      extensions: { explain: { calls: [] } },
    });
  });

  it.each([
    ['subscribers[0].subscriberId', { subscribers: [{ subscriberId: '..' }] }],
    ['workflows[0].identifier', { workflows: [{ identifier: ' ' }] }],
    ['messages[0].transactionId', { messages: [{ transactionId: 'a/../b' }] }],
    ['feeds[0].id', { feeds: [{ id: '', name }] }],
  ])('R16: is invalid in the records of a test: %s', async (path, records) => {
    await expect(createTestGateway({ records })).rejects.toThrow(`records.${path}`);
  });

  it('R16: of blanks is refused by the sandbox, as by the service', async () => {
    await using sandbox = await startSandbox();
    const send = await createSandboxClient(sandbox.url);
    const isRefused = async (target: string, body: object) => (await send(target, { body })).status === 422;
    expect(await isRefused('POST /v1/subscribers', { subscriberId: ' ' })).toBe(true);
    expect(await isRefused('POST /v1/subscribers', { subscriberId: 'a' })).toBe(false);
    const trigger = (to: unknown) => isRefused('POST /v1/events/trigger', { name: 'payment-failed', to });
    for (const to of [' ', [{ subscriberId: '' }], { type: 'Topic', topicKey: '\u00a0' }]) {
      expect(await trigger(to)).toBe(true);
    }
    expect(await trigger('a')).toBe(false);
  });
});

describe('a field', () => {
  const FIELDS = ['email', 'firstName', 'lastName', 'phone', 'avatar', 'locale'];
  const CLEARED = Object.fromEntries([...FIELDS, 'data'].map((name) => [name, null]));

  beforeAll(() => {
    gateway.service.script = ({ path, body }) => {
      const isEvent = path.includes('/events');
      const record = isEvent ? { status: 'processed' } : subscriber({ ...JSON.parse(body), subscriberId: 'a' });
      return { status: 201, body: { data: record } };
    };
  });

  /** Sends a mutation, and returns the bodies that reach the service. */
  async function sent(document: string, variables: object): Promise<unknown[]> {
    gateway.service.forget();
    await gateway.data(document, { ...variables });
    return gateway.service.requests.map(({ body }) => JSON.parse(body));
  }

  it('R15: that is null is cleared, and one that is absent keeps its value', async () => {
    const all = { subscriberId: 'a', ...CLEARED, channels: null };
    expect(await sent(CREATE, { input: all })).toEqual([all]);
    expect(await sent(CREATE, { input: { subscriberId: 'a', email: null } })).toEqual([
      { subscriberId: 'a', email: null },
    ]);
    expect(await sent(CREATE, { input: { subscriberId: 'a' } })).toEqual([{ subscriberId: 'a' }]);
    expect(await sent(CREATE_ALL, { input: { subscribers: [all] } })).toEqual([all]);
    expect(await sent(UPDATE, { input: { subscriberId: 'a', ...CLEARED } })).toEqual([CLEARED]);
    expect(await sent(UPDATE, { input: { subscriberId: 'a', phone: '+1' } })).toEqual([{ phone: '+1' }]);
    const event = { workflow: 'w', subscribers: [{ subscriberId: 'a', email: null }], payload: null, actorId: null };
    const body = { name: 'w', to: [{ subscriberId: 'a', email: null }], payload: {} };
    expect(await sent(TRIGGER, { event })).toEqual([body]);
    const literal = 'mutation { createSubscriber(input: { subscriberId: "a", email: null }) { __typename } }';
    expect(await sent(literal, {})).toEqual([{ subscriberId: 'a', email: null }]);
  });

  it.each(FIELDS)('R15: %s that is empty is invalid before any call', async (field) => {
    gateway.service.forget();
    const profile = { subscriberId: 'a', [field]: '' };
    const uses: [string, object, string[]][] = [
      [CREATE, { input: profile }, []],
      [UPDATE, { input: profile }, []],
      [TRIGGER, { event: { workflow: 'w', subscribers: [profile] } }, ['event', 'subscribers', '0']],
      [TRIGGER_ALL, { events: [{ workflow: 'w', subscribers: [profile] }] }, ['events', '0', 'subscribers', '0']],
    ];
    for (const [document, variables, path] of uses) {
      expect(await resultOf(document, variables)).toMatchObject({
        __typename: 'InvalidInputError',
        issues: [
          {
            path: ['input', ...path, field],
            message: `${field} must ${field === 'avatar' ? 'be an http or https URL' : 'not be empty. Use null to clear it'}.`,
          },
        ],
      });
    }
    expect(gateway.service.requests).toHaveLength(0);
  });

  it('R15: of a recipient can be sent by the same rules as that of a subscriber', async () => {
    const recipient = { subscriberId: 'a', firstName: 'a\r\nBcc: b', avatar: 'javascript:x' };
    const event = { workflow: 'w', subscribers: [recipient], payload: { text: 'a\nb', email: '' } };
    expect((await resultOf(TRIGGER, { event }))?.issues.map(({ path }) => path.at(-1))).toEqual([
      'avatar',
      'firstName',
    ]);
  });

  it('R15: that is null or empty is cleared by the sandbox, and one that is absent keeps its value', async () => {
    await using sandbox = await startSandbox();
    const send = await createSandboxClient(sandbox.url);
    const filled = {
      subscriberId: 'clear-1',
      email: 'a@mail.example',
      firstName: 'Ada',
      phone: '+1',
      data: { plan: 'pro' },
      channels: [{ providerId: 'fcm' }],
    };
    await send('POST /v1/subscribers', { body: filled });
    const kept = await send('POST /v1/subscribers', { body: { subscriberId: 'clear-1' } });
    expect(kept.data).toMatchObject({ ...filled, channels: [expect.objectContaining({ providerId: 'fcm' })] });
    const cleared = await send('POST /v1/subscribers', {
      body: { subscriberId: 'clear-1', email: null, firstName: '', data: null, channels: null },
    });
    expect(cleared.status).toBe(201);
    expect(cleared.data).toMatchObject({ phone: '+1', channels: kept.data.channels }); // The service only adds channels.
    expect(cleared.data).toMatchObject({ email: null, data: null });
    expect(cleared.data.firstName || null).toBeNull();
    const updated = await send('PUT /v1/subscribers/clear-1', { body: { phone: null, lastName: 'L' } });
    expect(updated.data).toMatchObject({ lastName: 'L', phone: null });
    await send('POST /v1/events/trigger', {
      body: { name: 'payment-failed', to: { subscriberId: 'clear-1', lastName: null } },
    });
    expect((await send('GET /v1/subscribers/clear-1')).data).toMatchObject({ lastName: null });
  });
});

describe('an odd value', () => {
  const RESULTS = `mutation ($events: [EventInput!]!) { triggerEvents(input: { events: $events }) {
    ... on TriggerEventsSuccess { events { isProcessed status transactionId problems } } } }`;
  const ADD = `mutation { addSubscribersToTopic(input: { key: "k", subscriberIds: ["a", "b"] }) {
    ... on AddSubscribersToTopicSuccess { addedIds unknownIds } } }`;

  it('R30: as the error of an event leaves every event its result', async () => {
    const errors = [
      'Text.',
      ['A', 7, null, 'B'],
      undefined,
      null,
      { message: 'Of an object.' },
      7,
      [{ message: 'Inner.' }],
    ];
    const results = errors.map((error, i) => ({ status: 'error', transactionId: `t${i}`, error }));
    gateway.service.script = () => ({ status: 201, body: { data: results } });
    const { body } = await gateway.send(RESULTS, { events: errors.map(() => EVENT) });
    const problems = [['Text.'], ['A', 'B'], [], [], ['Of an object.'], [], ['Inner.']];
    expect(body).toEqual({
      data: {
        triggerEvents: {
          events: problems.map((each, i) => ({
            isProcessed: false,
            status: 'ERROR',
            transactionId: `t${i}`,
            problems: each,
          })),
        },
      },
    });
  });

  it('R30: as the result of an event costs only its own place', async () => {
    const results = [{ status: 'processed', transactionId: 't0' }, null, { status: 7, transactionId: {} }];
    gateway.service.script = () => ({ status: 201, body: { data: results } });
    const { body } = await gateway.send(RESULTS, { events: results.map(() => EVENT) });
    expect(body.data).toEqual({
      triggerEvents: {
        events: [
          { isProcessed: true, status: 'PROCESSED', transactionId: 't0', problems: [] },
          null,
          { isProcessed: false, status: null, transactionId: null, problems: [] },
        ],
      },
    });
    expect(body.errors).toMatchObject([
      { path: ['triggerEvents', 'events', 1], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
      { path: ['triggerEvents', 'events', 2, 'transactionId'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
    ]);
  });

  it.each([
    ['texts', { succeeded: 'a', failed: { notFound: 'b' } }, ['a'], ['b']],
    ['no list of those that were added', { failed: { notFound: ['b'] } }, ['a'], ['b']],
    ['numbers and nulls', { succeeded: [1, null, {}], failed: { notFound: null } }, ['1'], []],
    ['values of other types', { succeeded: 7, failed: ['b'] }, ['a', 'b'], []],
    ['a text', 'ok', ['a', 'b'], []],
    ['a null', { succeeded: null, failed: null }, ['a', 'b'], []],
  ])('R30: in the result of a topic (%s) does not hide what was added', async (_, data, addedIds, unknownIds) => {
    gateway.service.script = () => ({ body: { data } });
    expect(await gateway.data(ADD)).toEqual({ addSubscribersToTopic: { addedIds, unknownIds } });
  });

  it.each<[number, object, boolean | undefined]>([
    [0, { page: 0, totalCount: 3, pageSize: 2 }, true],
    [1, { page: 1, totalCount: 3, pageSize: 2 }, false],
    [0, { totalCount: 3 }, true],
    [0, { page: 0, hasMore: false, totalCount: 99 }, false],
    [0, { page: 0, totalCount: 2 }, false],
    [0, { page: 0 }, undefined],
  ])(
    'R30: more subscribers follow page %i with %j: %s; without an indication, that is an error',
    async (page, members, hasMore) => {
      const data = (page === 1 ? ['c'] : ['a', 'b']).map((subscriberId) => subscriber({ subscriberId }));
      gateway.service.script = () => ({ body: { ...members, data } });
      const result = await gateway.run(`{ subscribers(page: ${page}, limit: 2) { page hasMore } }`);
      expect(result).toEqual(hasMore === undefined ? ['UPSTREAM_BAD_RESPONSE'] : { subscribers: { page, hasMore } });
    },
  );

  it('R30: a null among the workflows of a day is left out, and counted as drift', async () => {
    await using gateway = await startGateway({
      service: ({ path }) => ({
        body: path.includes('/stats')
          ? { data: [{ _id: '2026-01-02', count: 2, templates: [null, 'w1'], channels: [] }] }
          : { data: workflow({ _id: 'w1' }) },
      }),
    });
    expect(await gateway.data('{ notificationStats { count workflowIds workflows(first: 1) { id } } }')).toEqual({
      notificationStats: [{ count: 2, workflowIds: ['w1'], workflows: [{ id: 'w1' }] }],
    });
    expect(deviationsIn(gateway.log)).toEqual(['GET /v1/notifications/graph/stats data[].templates[] null']);
  });
});

it('R15: fields of other records may be empty, whatever their names are', async () => {
  const contacts = defineModule('contacts', ({ endpoint, mutation }) => {
    const create = endpoint('POST /v1/contacts').takes<{ body: { email: string } }>().returns<{ _id: string }>();
    mutation('createContact', {
      description: 'Creates a contact.',
      scope: 'contacts:write',
      endpoint: create,
      input: {
        description: 'The contact.',
        fields: (t) => ({ email: t.string({ required: true, description: 'The email address, if there is one.' }) }),
      },
      resolve: async (input, send) => ({ id: (await send({ body: input }))._id }),
      success: {
        description: 'It was created.',
        fields: (t) => ({ id: t.exposeID('id', { description: 'The id.' }) }),
      },
    });
  });
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { _id: 'c1' } }),
    modules: [contacts],
  });
  const created = await gateway.data(
    'mutation { createContact(input: { email: "" }) { ... on CreateContactSuccess { id } } }',
  );
  expect(created).toEqual({ createContact: { id: 'c1' } });
  expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({ email: '' });
});

it.each([
  { errors: [{ path: { toString: 1 }, message: 'x' }] },
  { errors: [{ field: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)), message: 'x' }] },
  { errors: { received: 'a private value', message: ['x'] } },
  { message: 'x', errors: { target: 'a private value', received: 'a private value' } },
  { errors: { field: 'name', received: 'a private value', messages: ['x'] } },
])('odd reasons of a failure stay a failure of the input, without values (%#)', async (body) => {
  gateway.service.script = () => ({ status: 400, body });
  gateway.service.forget();
  const result = await resultOf(`mutation { createFeed(input: { name: "News" }) { ${FAILURE} } }`, {});
  expect(result).toMatchObject({ message: expect.any(String), issues: expect.arrayContaining([expect.anything()]) });
  expect(JSON.stringify(result)).not.toContain('private');
  expect(gateway.service.requests).toHaveLength(1);
});
