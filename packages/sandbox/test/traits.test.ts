import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import layouts from '../../../examples/testing/layouts.ts';
import { read, rows } from '../../../test/support/docs.ts';
import { NotificationGroupsDocument } from '../../client/src/index.ts';
import { createTestGateway, type TestGateway } from '../../testing/src/index.ts';
import { SANDBOX_KEYS, startSandbox } from '../src/sandbox.ts';
import { TRAIT_NAMES, type TraitName } from '../src/traits.ts';

interface Message {
  body?: unknown;
  headers?: Record<string, string>;
  agent?: Agent;
}

interface Response {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}

type Send = (target: string, message?: Message) => Promise<Response>;

/** Starts a sandbox with traits. Returns a function that sends it a request, written as 'GET /v1/…'. */
async function start(...traits: TraitName[]): Promise<Send & AsyncDisposable> {
  const sandbox = await startSandbox({ traits, now: () => new Date('2027-01-15T12:00:00Z') });
  const send: Send = async (target, { body, headers, agent } = {}) => {
    const [method = '', path = ''] = target.split(' ');
    const sending = request(sandbox.url + path, {
      method,
      ...(agent && { agent }),
      headers: {
        authorization: `ApiKey ${SANDBOX_KEYS.development}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sending.end(body === undefined ? undefined : JSON.stringify(body));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sending.once('response', resolve).once('error', reject);
    });
    const text = (await buffer(response)).toString('utf8'); // Keeps a byte order mark.
    return { status: response.statusCode, headers: response.headers, text };
  };
  return Object.assign(send, { [Symbol.asyncDispose]: () => sandbox.close() });
}

const json = ({ text }: Response) => JSON.parse(text);

const createFeed = (name: string, key?: string): [string, Message] => [
  'POST /v1/feeds',
  { body: { name }, headers: key === undefined ? {} : { 'idempotency-key': key } },
];

const [EMAIL, LOCALE] = ['email must be an email address.', 'locale must be a locale such as en or en_US.'];
const INVALID: [string, Message] = ['POST /v1/subscribers', { body: { subscriberId: 's1', email: 'x', locale: 'ö' } }];
const UNKNOWN_WORKFLOW: [string, Message] = [
  'POST /v1/events/trigger',
  { body: { name: 'none', to: 's1', payload: {} } },
];

/** Checks that every request gets this response. */
function answersAll(status: number, type: string, textFor: (target: string) => string) {
  return async (send: Send): Promise<void> => {
    for (const target of ['GET /v1/feeds', 'GET /v1/workflows/payment-failed', 'PATCH /v1/notification-groups/a?b=c']) {
      const response = await send(target);
      expect([response.status, response.headers['content-type'], response.text]).toEqual([
        status,
        type,
        textFor(target),
      ]);
    }
  };
}

/** Checks of each trait, with a sandbox that has only this one. */
const CHECKS: Record<TraitName, (send: Send) => Promise<void>> = {
  'ingress-404': answersAll(404, 'text/plain', () => 'default backend - 404'),

  'framework-404-html': answersAll(404, 'text/html', (target) => `<pre>Cannot ${target}</pre>`),

  'framework-404-json': answersAll(404, 'application/json; charset=utf-8', (target) =>
    JSON.stringify({ message: `Cannot ${target}`, error: 'Not Found', statusCode: 404 }),
  ),

  'firewall-403': answersAll(403, 'text/html', () => '<h1>403 Forbidden</h1>'),

  async 'sick-pod'(send) {
    const [first, second] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    const statusOf = async (agent: Agent) => (await send('GET /v1/notification-groups', { agent })).status;
    const statuses = [await statusOf(first), await statusOf(second), await statusOf(first), await statusOf(second)];
    expect(statuses).toEqual([503, 200, 503, 200]);
    const sockets = [first, second].flatMap(({ freeSockets }) => Object.values(freeSockets)).map((all) => all?.length);
    expect(sockets).toEqual([1, 1]); // The failure closed no connection.
    first.destroy();
    second.destroy();
  },

  async 'read-timeouts'(send) {
    const [groups, statistics] = ['GET /v1/notification-groups', 'GET /v1/notifications/graph/stats'];
    const statuses = [];
    for (const target of [groups, statistics, statistics, groups, groups, groups]) {
      statuses.push((await send(target)).status);
    }
    expect(statuses).toEqual([408, 408, 200, 200, 408, 200]);
    expect((await send(...createFeed('News'))).status).toBe(201);
  },

  async 'write-timeouts'(send) {
    expect((await send(...createFeed('News'))).status).toBe(408);
    expect((await send(...createFeed('News'))).status).toBe(409); // It was applied.
    expect((await send('GET /v1/notification-groups')).status).toBe(200);
  },

  async 'errors-with-200'(send) {
    const response = await send('POST /v1/notification-groups', { body: { name: 'New' } });
    expect([response.status, json(response)]).toMatchObject([200, { statusCode: 500, message: expect.any(String) }]);
    const groups = json(await send('GET /v1/notification-groups')).data;
    expect(groups.map(({ name }: { name: string }) => name)).not.toContain('New');
  },

  async 'stored-failures'(send) {
    const replays = async (name: string, key?: string) => {
      const { status, headers } = await send(...createFeed(name, key));
      return [status, headers['idempotency-replay']];
    };
    expect(await replays('Without a key')).toEqual([201, undefined]);
    expect(await replays('News', 'k1')).toEqual([503, undefined]);
    expect(await replays('News', 'k1')).toEqual([503, 'true']);
    expect(await replays('News', 'k2')).toEqual([201, undefined]);
    expect(await replays('News', 'k2')).toEqual([201, 'true']); // By the sandbox itself.
    expect(await replays('News', 'k1')).toEqual([503, 'true']);
    const other = await send('POST /v1/notification-groups', { body: {}, headers: { 'idempotency-key': 'k3' } });
    expect(other.status).toBe(503);
  },

  async 'rate-limit-categories'(send) {
    const policyOf = async (target: string, message?: Message) => {
      const { status, headers } = await send(target, message);
      return [status, headers['ratelimit-policy'], headers['retry-after']];
    };
    const policy = (category: string) => `80;w=5;comment="token bucket";category="${category}"`;
    expect(await policyOf('GET /v1/topics')).toEqual([429, policy('configuration'), '1']);
    expect((await send('GET /v1/subscribers')).headers['ratelimit-remaining']).toBe('0');
    expect(await policyOf(...createFeed('News'))).toEqual([201, policy('global'), undefined]);
    expect(await policyOf(...UNKNOWN_WORKFLOW)).toEqual([422, policy('trigger'), undefined]);
    expect(await policyOf('GET /v1/notifications/graph/stats')).toEqual([200, policy('global'), undefined]);
    expect(await policyOf('DELETE /v1/messages/transaction/none')).toEqual([404, policy('global'), undefined]);
  },

  async 'validation-by-field'(send) {
    await expectInvalid(send, 422, {
      message: 'Validation Error',
      errors: {
        email: { messages: [EMAIL], value: 'a private value' },
        locale: { messages: [LOCALE], value: 'a private value' },
      },
    });
    expect(json(await send('POST /v1/feeds')).errors).toHaveProperty('general.messages', ['A JSON body is required.']);
  },

  async 'validation-400'(send) {
    await expectInvalid(send, 400, { message: [EMAIL, LOCALE], error: 'Bad Request', statusCode: 400 });
  },

  async 'validation-list'(send) {
    await expectInvalid(send, 400, {
      message: 'Validation failed',
      errors: [
        { field: 'email', message: EMAIL },
        { field: 'locale', message: LOCALE },
      ],
    });
  },

  async 'validation-paths'(send) {
    await expectInvalid(send, 400, {
      errors: [
        { path: ['email'], message: EMAIL, code: 'custom' },
        { path: ['locale'], message: LOCALE, code: 'custom' },
      ],
    });
    const nested = await send('POST /v1/topics/t1/subscribers', { body: { subscribers: [1] } });
    expect(json(nested).errors).toMatchObject([{ path: ['subscribers', '0'] }]);
  },

  async 'validation-cause'(send) {
    await expectInvalid(send, 400, { message: 'Bad Request', cause: { email: [EMAIL], locale: [LOCALE] } });
  },

  async 'deletions-204'(send) {
    const { data } = json(await send(...createFeed('News')));
    expect(await send(`DELETE /v1/feeds/${data._id}`)).toMatchObject({ status: 204, text: '' });
    expect((await send(`DELETE /v1/feeds/${data._id}`)).status).toBe(400);
    expect(await send('DELETE /v1/events/trigger/t1')).toMatchObject({ status: 200, text: '{"data":false}' });
  },

  async 'deletions-with-record'(send) {
    await send('POST /v1/topics', { body: { key: 'beta', name: 'Beta' } });
    expect(await send('DELETE /v1/topics/beta')).toMatchObject({ status: 200, text: '{"data":{"_id":"beta"}}' });
    expect((await send('DELETE /v1/topics/beta')).status).toBe(404);
    const messages = await send('DELETE /v1/messages/transaction/sample-transaction-0001?channel=email');
    expect(messages).toMatchObject({ status: 200, text: '{"data":{"_id":"sample-transaction-0001"}}' });
    expect(await send('DELETE /v1/events/trigger/t1')).toMatchObject({ status: 200, text: '{"data":false}' });
  },

  async 'absent-flags'(send) {
    const { text } = await send('GET /v1/workflows/payment-failed');
    expect(text).toContain('"active":true');
    expect(text).not.toMatch(/"(?:critical|draft|deleted)"/);
  },

  async 'null-items'(send) {
    const groups = json(await send('GET /v1/notification-groups')).data;
    expect([groups[0], groups.length]).toEqual([null, 5]);
    const subscribers = json(await send('GET /v1/subscribers?limit=2'));
    expect(subscribers.data).toEqual([null, expect.any(Object), expect.any(Object)]);
    const [nothing, day] = json(await send('GET /v1/notifications/graph/stats?days=2')).data;
    expect([nothing, day.templates.slice(0, 2)]).toEqual([null, [null, expect.any(String)]]);
    const { data } = json(await send('GET /v1/workflows/payment-failed'));
    expect(data.steps[0]).toHaveProperty('template');
    const events = await send('POST /v1/events/trigger/bulk', { body: { events: [UNKNOWN_WORKFLOW[1].body] } });
    expect(json(events).data).toMatchObject([{ status: 'error' }]); // Results belong to events by their places.
  },

  async 'no-hasMore'(send) {
    const pages = [
      json(await send('GET /v1/subscribers?limit=2')),
      json(await send('GET /v1/subscribers?page=1&limit=2')),
    ];
    for (const [page, body] of pages.entries()) {
      expect(body).toMatchObject({ page, pageSize: 2, totalCount: pages[0].totalCount });
      expect(body).not.toHaveProperty('hasMore');
    }
    const all = json(await send('GET /v1/subscribers?limit=100'));
    expect(all.data).toHaveLength(pages[0].totalCount);
  },

  async 'keeps-nulls'(send) {
    const profile = { firstName: 'Ada', phone: '+1', email: 'ada@example.com', data: { plan: 'team' } };
    const nulls = { firstName: null, phone: null, email: null, data: null };
    const { email: _, ...kept } = profile;
    for (const [i, target] of ['POST /v1/subscribers', 'PUT /v1/subscribers/s1'].entries()) {
      await send('POST /v1/subscribers', { body: { subscriberId: `s${i}`, ...profile } });
      await send('POST /v1/subscribers', { body: { subscriberId: 's1', ...profile } });
      const answer = json(await send(target, { body: { subscriberId: `s${i}`, ...nulls } })).data;
      expect(answer).toMatchObject({ ...kept, email: null });
      expect(json(await send(`GET /v1/subscribers/s${i}`)).data).toMatchObject({ ...kept, email: null });
    }
    const created = await send('POST /v1/subscribers', { body: { subscriberId: 'new', ...nulls } });
    expect(json(created).data).toMatchObject(nulls);
  },

  async 'unknown-deletion-400'(send) {
    const response = await send('DELETE /v1/subscribers/nobody');
    expect(json(response)).toMatchObject({ statusCode: 400, message: 'Could not find subscriber nobody to delete' });
  },

  async 'soft-deletions'(send) {
    const create = (fields: object = {}) => send('POST /v1/subscribers', { body: { subscriberId: 's1', ...fields } });
    const { data: first } = json(await create({ firstName: 'Ada', phone: '+1' }));
    await send('POST /v1/events/trigger', { body: { name: 'payment-failed', to: 's1', payload: {} } });
    await send('DELETE /v1/subscribers/s1');
    expect((await send('GET /v1/subscribers/s1')).status).toBe(404);
    expect((await send('PUT /v1/subscribers/s1', { body: {} })).status).toBe(400);
    expect(json(await create())).toMatchObject({ statusCode: 500, errorId: expect.any(String) });
    const event = { name: 'payment-failed', to: ['s1', 's2'], payload: {} };
    expect(json(await send('POST /v1/events/trigger', { body: event })).data.status).toBe('processed');
    expect((await send('GET /v1/subscribers/s1')).status).toBe(404);
    expect(json(await send('GET /v1/subscribers/s2/notifications/feed')).data).toHaveLength(1);

    const subscribers = [{ subscriberId: 's1', firstName: 'Back' }, { subscriberId: 's3' }];
    expect(json(await send('POST /v1/subscribers/bulk', { body: { subscribers } })).data).toEqual({
      ...{ updated: [{ subscriberId: 's1' }], created: [{ subscriberId: 's3' }], failed: [] },
    });
    expect(json(await send('GET /v1/subscribers/s1/notifications/feed')).data).toHaveLength(1);
    const back = { _id: first._id, createdAt: first.createdAt, firstName: 'Back', phone: '+1' };
    expect(json(await send('GET /v1/subscribers/s1')).data).toMatchObject(back);
    expect((await create()).status).toBe(201);
    expect((await send('POST /v1/subscribers', { body: { subscriberId: 's4' } })).status).toBe(201);
  },

  async 'old-preferences'(send) {
    await send('POST /v1/subscribers', { body: { subscriberId: 's1' } });
    const path = '/v1/subscribers/s1/preferences';
    const { data: workflow } = json(await send('GET /v1/workflows/comment-mention'));
    const { data: critical } = json(await send('GET /v1/workflows/payment-failed'));
    const listed = async (name: string) =>
      json(await send(`GET ${path}`)).data.find((each: { template: { name: string } }) => each.template.name === name)
        ?.preference;
    expect(await listed(workflow.name)).toEqual({ enabled: true, channels: { in_app: true, push: true } });
    expect(await listed(critical.name)).toBeDefined();
    const change = async (id: string, body: object = { channel: { type: 'in_app', enabled: false } }) => {
      const response = await send(`PATCH ${path}${id}`, { body });
      return [response.status, json(response).data?.preference.channels.in_app];
    };
    expect(await change(`/${critical._id}`)).toEqual([200, false]);
    expect([await change('/comment-mention'), await change(`/${'0'.repeat(24)}`)]).toEqual([
      [422, undefined],
      [404, undefined],
    ]);
    expect((await send('GET /v1/subscribers/nobody/preferences')).status).toBe(400);
    expect((await send('GET /v1/subscribers/nobody/preferences/global')).status).toBe(400);
    expect((await send('PATCH /v1/subscribers/nobody/preferences', { body: {} })).status).toBe(404);

    const inbox = async () => {
      await send('POST /v1/events/trigger', { body: { name: 'comment-mention', to: 's1', payload: {} } });
      return json(await send('GET /v1/subscribers/s1/notifications/feed')).data.length;
    };
    expect(await change('', { enabled: false })).toEqual([200, true]);
    expect(json(await send(`GET ${path}/global`)).data).toMatchObject([{ preference: { enabled: false } }]);
    expect(await change(`/${workflow._id}`, { channel: { type: 'in_app', enabled: true } })).toEqual([200, true]);
    expect([await listed(workflow.name), await inbox()]).toMatchObject([{ enabled: true }, 0]);
    await change('', { enabled: true });
    expect(await inbox()).toBe(1);
    await change(`/${workflow._id}`, { enabled: false });
    await change('', { preferences: [{ type: 'in_app', enabled: true }] });
    expect([await listed(workflow.name), await inbox()]).toMatchObject([{ enabled: false }, 1]);
    await send('POST /v1/events/trigger', { body: { name: 'payment-failed', to: 's1', payload: {} } });
    expect(json(await send('GET /v1/subscribers/s1/notifications/feed')).data).toHaveLength(2); // It is sent nevertheless.
  },

  async 'all-channels'(send) {
    await send('POST /v1/subscribers', { body: { subscriberId: 's1' } });
    const path = '/v1/subscribers/s1/preferences';
    const channels = { email: true, sms: true, in_app: true, chat: true, push: true };
    const { data } = json(await send(`GET ${path}`));
    expect(
      data.map(({ preference }: { preference: object }) => Object.keys(Object(preference).channels).length),
    ).toEqual(data.map(() => 5));
    const changed = json(await send(`PATCH ${path}/comment-mention`, { body: {} }));
    expect([data.length > 0, changed.data.preference]).toEqual([true, { enabled: true, channels }]);
  },

  async 'marks-of-everybody'(send) {
    await send('POST /v1/events/trigger', { body: { name: 'comment-mention', to: ['s1', 's2'], payload: {} } });
    const list = async (id: string) => json(await send(`GET /v1/subscribers/${id}/notifications/feed`)).data;
    const ids = [...(await list('s1')), ...(await list('s2'))].map(({ _id }) => _id);
    const answer = json(
      await send('POST /v1/subscribers/s1/messages/mark-as', { body: { messageId: ids, markAs: 'read' } }),
    );
    const tags = ['community', 'digest'];
    expect(answer.data).toMatchObject([
      { _id: ids[0], read: true, tags },
      { _id: ids[1], read: false, tags },
    ]);
    expect(await list('s2')).toMatchObject([{ read: false }]);
  },

  async 'any-channel'(send) {
    const remove = async (query: string) =>
      (await send(`DELETE /v1/messages/transaction/sample-transaction-0001${query}`)).status;
    expect(await remove('?channel=sms')).toBe(204);
    expect(json(await send('GET /v1/messages?transactionId=sample-transaction-0001')).data).not.toEqual([]);
    expect([await remove(''), await remove('?channel=sms')]).toEqual([204, 404]);
  },

  async 'any-recipient'(send) {
    const event = { name: 'payment-failed', to: 'user 1', payload: {} };
    expect(json(await send('POST /v1/events/trigger', { body: event })).data.status).toBe('processed');
    expect((await send('GET /v1/subscribers/user%201')).status).toBe(200);
  },

  async 'large-bodies-500'(send) {
    expect((await send('POST /v1/feeds', { body: { name: 'x'.repeat(102_400) } })).status).toBe(500);
    expect((await send(...createFeed('News'))).status).toBe(201);
  },

  async 'no-idempotency'(send) {
    const first = await send('POST /v1/notification-groups', createFeed('News', 'k1')[1]);
    const second = await send('POST /v1/notification-groups', createFeed('News', 'k1')[1]);
    expect([second.status, second.headers['idempotency-replay']]).toEqual([201, undefined]);
    expect(json(second).data._id).not.toBe(json(first).data._id);
  },

  async 'event-error-text'(send) {
    const response = await send('POST /v1/events/trigger/bulk', { body: { events: [UNKNOWN_WORKFLOW[1].body] } });
    expect(json(response).data).toEqual([{ acknowledged: true, status: 'error', error: 'workflow_not_found' }]);
  },

  async 'byte-order-mark'(send) {
    for (const target of ['GET /v1/notification-groups', 'GET /v1/workflows/none']) {
      const { text, headers } = await send(target);
      expect([text.charCodeAt(0), headers['content-encoding']]).toEqual([0xfeff, 'Identity']);
      expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
      expect(() => JSON.parse(text.slice(1))).not.toThrow();
    }
    await send('POST /v1/topics', { body: { key: 'beta', name: 'Beta' } });
    const { status, headers } = await send('DELETE /v1/topics/beta');
    expect([status, headers['content-length']]).toEqual([204, undefined]);
  },
};

/** Expects this response to invalid fields, and that errors about no field and successful responses are those of the sandbox. */
async function expectInvalid(send: Send, status: number, body: object): Promise<void> {
  const response = await send(...INVALID);
  expect([response.status, json(response)]).toEqual([status, body]);
  expect(json(await send('GET /v1/workflows/none'))).toMatchObject({ statusCode: 404, message: /none/ });
  expect((await send('GET /v1/notification-groups')).status).toBe(200);
}

it.each(TRAIT_NAMES)('%s', async (name) => {
  await using send = await start(name);
  await CHECKS[name](send);
});

it('several traits apply in the order of the table, whatever the order of their names', async () => {
  await using send = await start('firewall-403', 'ingress-404', 'byte-order-mark');
  expect(await send('GET /v1/feeds')).toMatchObject({ status: 404, text: '\uFEFFdefault backend - 404' });
});

it('the page at / is not affected', async () => {
  await using send = await start(...TRAIT_NAMES);
  const { status, text } = await send('GET /');
  expect([status, text.slice(0, 17)]).toEqual([200, 'Notigraph sandbox']);
});

it('the table of docs/sandbox.md has the sentences of the code', () => {
  const inCode = [
    ...read('packages/sandbox/src/traits.ts').matchAll(/^ {2}\/\*\* (.*) \*\/\n {2}(?:async )?'([\w-]+)'/gm),
  ];
  expect(inCode.map(([, , name]) => name)).toEqual(TRAIT_NAMES);
  expect(rows(read('docs/sandbox.md'), /^\| trait /m)).toEqual(
    inCode.map(([, sentence, name]) => [`\`${name}\``, sentence]),
  );
});

describe('createTestGateway', () => {
  /** Loads the groups. Returns the status of the service's first response. */
  async function firstStatus(gateway: TestGateway): Promise<number | undefined> {
    gateway.clearCalls();
    await gateway.client.request(NotificationGroupsDocument);
    return gateway.calls[0]?.status;
  }

  it('switches traits on and off', async () => {
    await using gateway = await createTestGateway();
    expect(await firstStatus(gateway)).toBe(200);
    const trait = gateway.behave('firewall-403');
    expect(await firstStatus(gateway)).toBe(403);
    gateway.recover(); // Ends only faults.
    expect(await firstStatus(gateway)).toBe(403);
    {
      using _ = gateway.behave('ingress-404');
      expect(await firstStatus(gateway)).toBe(404);
    }
    expect(await firstStatus(gateway)).toBe(403);
    trait.recover();
    expect(await firstStatus(gateway)).toBe(200);
  });

  it('has the traits of its options again after a reset, as if for the first time, and no others', async () => {
    await using gateway = await createTestGateway({ traits: ['read-timeouts'] });
    expect(await firstStatus(gateway)).toBe(408);
    gateway.behave('firewall-403');
    await gateway.reset();
    expect(await firstStatus(gateway)).toBe(408);
  });

  it('knows the connections of a service in memory', async () => {
    await using gateway = await createTestGateway({ traits: ['sick-pod'], maxRetries: 0 });
    const queries = ['{ notificationGroups { id } }', '{ notificationStats(days: 2) { key } }'];
    await Promise.all(queries.map((query) => gateway.client.request(query)));
    expect(new Set(gateway.calls.map(({ status }) => status))).toEqual(new Set([200, 503]));
  });

  it('applies traits to endpoints of the test, below faults', async () => {
    await using gateway = await createTestGateway({
      modules: [layouts],
      endpoints: { 'GET /v1/layouts/{id}': () => ({ body: { data: { _id: 'a', name: 'A' } } }) },
      traits: ['ingress-404'],
    });
    const statuses = async () => {
      gateway.clearCalls();
      await gateway.client.request('{ layout(id: "a") { name } }');
      return gateway.calls.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([404]);
    using _ = gateway.fail('GET /v1/layouts/{id}', 401);
    expect(await statuses()).toEqual([401]);
  });

  it('rejects unknown traits, and names the closest one', async () => {
    // @ts-expect-error No such trait.
    await expect(createTestGateway({ traits: ['ingres-404'] })).rejects.toThrow(
      new TypeError('The service has the unknown trait "ingres-404" (did you mean "ingress-404"?).'),
    );
    await using gateway = await createTestGateway();
    // @ts-expect-error No such trait.
    expect(() => gateway.behave('toString')).toThrow(new TypeError('The service has the unknown trait "toString".'));
  });
});
