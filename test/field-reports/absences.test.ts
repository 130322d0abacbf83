import { describe, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/module.ts';
import events from '../../src/modules/shipped/events.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import { startCachedGateway } from '../support/cached-gateway.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { LIST, READ, SET_STATUS, WRITES } from '../support/failing-service.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { healthyResponse } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import type { Script, ServiceResponse } from '../support/service.ts';

guards('src/upstream/transport/to-error.ts', 'isForeign');

// Responses that are not the service's own, and records that are incomplete: reports from the operation of gateways and services.

const html = (status: number, body: string): ServiceResponse => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
});

const FOREIGN: Record<string, (method: string, path: string) => ServiceResponse> = {
  'R1: the page of an ingress': () => ({
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: 'default backend - 404',
  }),
  'R2: the page of a framework': (method, path) => html(404, `<pre>Cannot ${method} ${path}</pre>`),
  'R3: the JSON of a framework': (method, path) => ({
    status: 404,
    body: { message: `Cannot ${method} ${path}`, error: 'Not Found', statusCode: 404 },
  }),
  'the JSON of Fastify': (method, path) => ({
    status: 404,
    body: { message: `Route ${method}:${path} not found`, error: 'Not Found', statusCode: 404 },
  }),
  'a message in an object': (method, path) => ({
    status: 404,
    body: { statusCode: 404, message: { message: `Cannot ${method} ${path}`, error: 'Not Found' } },
  }),
  'a message in a list': (method, path) => ({ status: 404, body: { message: [`Cannot ${method} ${path}`] } }),
  'the JSON of Kong': () => ({ status: 404, body: { message: 'no Route matched with those values' } }),
  'a page with 410': () => html(410, '<h1>Gone</h1>'),
  'JSON that is cut off': () => ({ status: 404, body: '{"statusCode":404,"mess' }),
  'R31: no body, while Envoy gets its routes': () => ({ status: 404, headers: { server: 'envoy' }, body: '' }),
  'R32: the JSON of an AWS HTTP API': () => ({ status: 404, body: { message: 'Not Found' } }),
  'R32: the JSON of FastAPI': () => ({ status: 404, body: { detail: 'Not Found' } }),
  'R32: the JSON of Spring': (_, path) => ({ status: 404, body: { status: 404, error: 'Not Found', path } }),
  'R32: the JSON of Tyk': () => ({ status: 404, body: { error: 'Requested endpoint is forbidden' } }),
  'R32: problem details': () => ({
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
    body: { type: 'about:blank', title: 'Not Found', status: 404 },
  }),
  'the status as a text': () => ({ status: 404, body: { statusCode: '404', message: 'Not Found' } }),
  'another status in the body': () => ({ status: 404, body: { statusCode: 500, message: 'Not Found' } }),
  'null with 410': () => ({ status: 410, body: 'null' }),
  ...Object.fromEntries(
    [301, 302, 307, 308].map((status): [string, () => ServiceResponse] => [
      `R33: a redirect with ${status}`,
      () => ({ status, headers: { location: 'https://elsewhere.example/' }, body: '' }),
    ]),
  ),
};

const MODULES = { modules: [events, messages, subscribers, topics, workflowPages] };

/** Gateway of all tests that neither count warnings nor deviations. */
const gateway = ofFile(await startGateway({ service: () => {}, ...MODULES }));

/** Lets the service respond so from now on. */
function respondWith(script: Script): void {
  gateway.service.script = script;
  gateway.service.forget();
  gateway.log.length = 0;
  gateway.advance(60); // Retries are limited per second.
}

const READS = {
  workflow: READ,
  notificationGroup: '{ notificationGroup(id: "g1") { name } }',
  notificationGroups: LIST,
  notificationStats: '{ notificationStats { key } }',
  subscriber: '{ subscriber(subscriberId: "u") { email } }',
  subscribers: '{ subscribers { page } }',
  topic: '{ topic(key: "t") { name } }',
  topics: '{ topics { page } }',
  messages: '{ messages(subscriberId: "u") { page } }',
  feeds: '{ feeds { name } }',
  workflowPage: '{ workflowPage { page } }',
};

const ALL_WRITES = {
  ...WRITES,
  updateWorkflowStatus: SET_STATUS,
  updateSubscriber: 'mutation { updateSubscriber(input: { subscriberId: "u", email: "a@b.example" }) { __typename } }',
  deleteSubscriber: 'mutation { deleteSubscriber(input: { subscriberId: "u" }) { __typename } }',
  createTopic: 'mutation { createTopic(input: { key: "t", name: "T" }) { __typename } }',
  renameTopic: 'mutation { renameTopic(input: { key: "t", name: "T" }) { __typename } }',
  deleteTopic: 'mutation { deleteTopic(input: { key: "t" }) { __typename } }',
  addSubscribersToTopic: 'mutation { addSubscribersToTopic(input: { key: "t", subscriberIds: ["u"] }) { __typename } }',
  deleteMessage: 'mutation { deleteMessage(input: { id: "m" }) { __typename } }',
  triggerEvent: 'mutation { triggerEvent(input: { event: { workflow: "w", subscriberIds: ["u"] } }) { __typename } }',
};

const warningsOf = (log: readonly Record<string, unknown>[]) =>
  log.filter(({ level }) => Number(level) >= 40).map(({ msg, method, route }) => `${method} ${route}: ${msg}`);

it.each(Object.entries(FOREIGN))(
  'a 404 that is not the service’s own, or a redirect, is a failure of every operation (%s)',
  async (_, respond) => {
    await using gateway = await startGateway({ service: ({ method, path }) => respond(method, path), ...MODULES });
    for (const [field, document] of Object.entries({ ...READS, ...ALL_WRITES })) {
      gateway.service.forget();
      const { body } = await gateway.send(document);
      const outcome = field in READS ? undefined : 'NOT_APPLIED';
      expect(body.data).toEqual({ [field]: null });
      expect(body.errors).toMatchObject([
        { path: [field], extensions: { code: 'UPSTREAM_BAD_RESPONSE', retryable: false } },
      ]);
      expect(body.errors?.[0]?.extensions?.outcome).toBe(outcome);
      expect(body.errors?.[0]?.message).toContain('Check its base address');
      expect(gateway.service.calls()).toHaveLength(1);
      if (field in READS) {
        expect(warningsOf(gateway.log.splice(0))).toEqual([
          expect.stringMatching(/^GET \/v1\/.*Check the base address/),
        ]);
      }
    }
  },
);

describe('the service’s own 404', () => {
  it.each<[string, ServiceResponse]>([
    [
      'R4: with a message',
      { status: 404, body: { statusCode: 404, message: 'Workflow with id abc not found', error: 'Not Found' } },
    ],
    ['with 410', { status: 410, body: { statusCode: 410 } }],
    ['with 410 and another status in the body', { status: 410, body: { statusCode: 404, message: 'Gone' } }],
  ])('%s, is an absent record', async (_, response) => {
    respondWith(() => response);
    const { body } = await gateway.send(
      '{ workflow(idOrIdentifier: "abc") { name } subscriber(subscriberId: "u") { email } }',
    );
    expect(body).toEqual({ data: { workflow: null, subscriber: null } });
    const deleted = await gateway.data(WRITES.deleteNotificationGroup);
    expect(deleted).toEqual({ deleteNotificationGroup: { __typename: 'NotFoundError' } });
    expect(warningsOf(gateway.log)).toEqual([]);
  });

  it('of an endpoint of another module can also have no body, or any JSON', async () => {
    const books = defineModule('books', ({ builder, declareCalls, endpoint, mutation, requireScopes }) => {
      const get = endpoint('GET /v1/books/{id}').returns<{ title: string }>();
      const remove = endpoint('DELETE /v1/books/{id}', { expect: 'nothing' });
      builder.queryField('book', (t) =>
        t.string({
          nullable: true,
          description: 'The title of a book.',
          extensions: { ...requireScopes('books:read'), ...declareCalls('1') },
          resolve: async (_root, _args, ctx) => (await ctx.upstream.read(get, { id: 'b1' }))?.title,
        }),
      );
      mutation('deleteBook', {
        description: 'Deletes a book.',
        scope: 'books:write',
        endpoint: remove,
        failures: { notFound: { resource: 'Book', id: () => 'b1' } },
        resolve: async (_, send) => ({ sent: await send({ id: 'b1' }) }),
        success: {
          description: 'The book was deleted.',
          fields: (t) => ({ ok: t.boolean({ description: 'Always true.', resolve: () => true }) }),
        },
      });
    });
    await using gateway = await startGateway({ service: () => {}, modules: [books, topics] });
    const LENGTH_0 = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n';
    const NO_CHUNKS = 'HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    const responses: Script[] = [
      (_, { send }) => send(LENGTH_0),
      (_, { send }) => send(NO_CHUNKS),
      () => ({ status: 404, body: { message: 'Not Found' } }),
      () => ({ status: 404, headers: { 'content-type': 'application/problem+json' }, body: '{}' }),
      () => ({ status: 410, body: {} }),
    ];
    for (const respond of responses) {
      gateway.service.script = respond;
      expect(await gateway.run('{ book }')).toEqual({ book: null });
      expect(await gateway.run('mutation { deleteBook { __typename } }')).toEqual({
        deleteBook: { __typename: 'NotFoundError' },
      });
      expect(await gateway.run(READS.topic)).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
    for (const name of Object.keys(FOREIGN).filter((each) => /^R[123]:|Fastify|Kong|redirect/.test(each))) {
      gateway.service.script = ({ method, path }) => FOREIGN[name]?.(method, path);
      expect(await gateway.run('{ book }'), name).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
  });

  it('of a path without a parameter is a failure: the service lacks the endpoint', async () => {
    respondWith(() => ({ status: 404, body: { statusCode: 404, message: 'Not found' } }));
    for (const document of [READS.notificationGroups, READS.notificationStats, READS.topics, ALL_WRITES.createFeed]) {
      expect((await gateway.send(document)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
  });
});

it('a redirect was not applied, and says where to look; other statuses of redirects say nothing about a write', async () => {
  const bulk =
    'mutation { createSubscribers(input: { subscribers: [{ subscriberId: "u" }] }) { results { ... on UpstreamFailure { status outcome retryable message } } } }';
  for (const status of [301, 302, 307, 308]) {
    respondWith(() => ({ status, headers: { location: '/login' }, body: '' }));
    const message = `The notification service redirects to another address (status ${status}). Check its base address, and what is in front of it.`;
    const failure = { status, outcome: 'NOT_APPLIED', retryable: false, message };
    expect(await gateway.data(bulk)).toEqual({ createSubscribers: { results: [failure] } });
    expect((await gateway.send(READ)).body.errors?.[0]?.message).toBe(message);
    expect(gateway.service.requests).toHaveLength(2);
  }
  for (const status of [300, 303, 304]) {
    respondWith(() => ({ status, headers: { location: '/login' }, body: '' }));
    const { body } = await gateway.send(WRITES.createFeed);
    expect(body.errors).toMatchObject([
      { message: expect.stringContaining('sent an invalid response'), extensions: { outcome: 'UNKNOWN' } },
    ]);
  }
});

it('such responses are one warning per episode and endpoint, counted by code, and never open the circuit breaker', async () => {
  await using gateway = await startGateway({
    service: ({ method, path }) =>
      path === '/v1/notification-groups' ? html(404, `Cannot ${method} ${path}`) : healthyResponse({ method, path }),
  });
  for (let i = 0; i < 30; i += 1) {
    expect((await gateway.send(LIST)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  }
  expect(await gateway.data(READ)).toEqual({ workflow: { id: 'w1', name: 'Workflow' } });
  expect(warningsOf(gateway.log)).toHaveLength(1);
  const metrics = await gateway.metrics();
  expect(metrics).toContain(
    'notigraph_upstream_requests_total{method="GET",route="/v1/notification-groups",result="UPSTREAM_BAD_RESPONSE"} 30',
  );
  expect(metrics).toContain('notigraph_circuit_breaker_state 0');
});

it.each([401, 403])('a page with %i is not about the API key', async (status) => {
  await using gateway = await startGateway({ service: () => html(status, '<h1>Request blocked</h1>') });
  for (const document of [READ, LIST, WRITES.createFeed]) {
    const { body, codes } = await gateway.send(document);
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    expect(body.errors?.[0]?.extensions?.outcome).toBe(document === WRITES.createFeed ? 'NOT_APPLIED' : undefined);
    expect(body.errors?.[0]?.message).toBe(
      `A proxy or firewall in front of the notification service rejected the request (status ${status}).`,
    );
  }
  expect(warningsOf(gateway.log)).toHaveLength(3);
});

it('with the cache, such a 404 is an outage: stored responses stay usable', async () => {
  await using gateway = await startCachedGateway({
    cache: { freshSeconds: 60, staleIfErrorSeconds: 3_600 },
  });
  const documents = ['{ workflow(idOrIdentifier: "welcome") { name } }', LIST];
  for (const document of documents) {
    await gateway.run(document);
  }
  const before = await Promise.all(documents.map((document) => gateway.run(document)));
  for (const respond of Object.values(FOREIGN)) {
    gateway.service.script = ({ method, path }) => respond(method, path);
    gateway.advance(95);
    expect(await Promise.all(documents.map((document) => gateway.run(document)))).toEqual(before);
  }
  gateway.service.script = () => ({ status: 404, body: { statusCode: 404, message: 'Workflow not found' } });
  gateway.advance(70);
  expect(await gateway.run(documents[0] ?? '')).toEqual({ workflow: null });
});

describe('a successful status with something else than the record', () => {
  const ERROR_OBJECT = { statusCode: 500, message: 'db down' };

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['R9: an error object', ERROR_OBJECT],
    ['an error object in an envelope', { data: ERROR_OBJECT }],
    ...['{', '', 'null', '[]', '{"data":null}', '{"data":[null]}', '"text"'].map((text): [string, string] => [
      text,
      text,
    ]),
  ])('(%s) is a violation of the contract, and a write may have been applied', async (_, body) => {
    respondWith(({ method }) => ({ status: method === 'POST' ? 201 : 200, body }));
    const lists = body === '[]' ? [] : [READS.notificationGroups, READS.notificationStats];
    for (const document of [READ, READS.notificationGroup, READS.subscriber, READS.topic, ...lists]) {
      expect((await gateway.send(document)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
    const { createFeed, createNotificationGroup, createSubscriber, updateNotificationGroup } = WRITES;
    const { updateWorkflowStatus, updateSubscriber, createTopic, renameTopic } = ALL_WRITES;
    for (const document of [
      ...[createFeed, createNotificationGroup, createSubscriber, updateNotificationGroup],
      ...[updateWorkflowStatus, updateSubscriber, createTopic, renameTopic],
    ]) {
      const { body: answer } = await gateway.send(document);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_BAD_RESPONSE', outcome: 'UNKNOWN' } }]);
    }
    const bulk = await gateway.data(
      'mutation { createSubscribers(input: { subscribers: [{ subscriberId: "u" }] }) { results { ... on UpstreamFailure { outcome } } } }',
    );
    expect(bulk).toEqual({ createSubscribers: { results: [{ outcome: 'UNKNOWN' }] } });
  });

  it('costs only its own place in a list or page', async () => {
    const entry = { _id: '2026-01-01', count: 1, templates: [], channels: [] };
    respondWith(({ path, method }) => {
      const items = (record: object) => [record, null, {}, 'text', record];
      if (method === 'DELETE') {
        return { body: { data: items(feed()) } };
      }
      return path.startsWith('/v1/notifications')
        ? { body: items(entry) }
        : path.startsWith('/v1/subscribers')
          ? { body: { page: 0, hasMore: false, data: items(subscriber()) } }
          : path.startsWith('/v1/topics')
            ? { body: { page: 0, totalCount: 5, data: items({ key: 't', name: 'T' }) } }
            : path.startsWith('/v1/workflows')
              ? { body: { page: 0, totalCount: 5, data: items(workflow()) } }
              : { body: { data: items(group()) } };
    });
    for (const [document, list, item] of [
      [LIST, ['notificationGroups'], { name: 'Group' }],
      ['{ subscribers { subscribers { subscriberId } } }', ['subscribers', 'subscribers'], { subscriberId: 'user-1' }],
      ['{ topics { topics { key } } }', ['topics', 'topics'], { key: 't' }],
      ['{ workflowPage { workflows { name } } }', ['workflowPage', 'workflows'], { name: 'Workflow' }],
      [
        'mutation { deleteFeed(input: { id: "f" }) { ... on DeleteFeedSuccess { remainingFeeds { id } } } }',
        ['deleteFeed', 'remainingFeeds'],
        { id: 'f1' },
      ],
    ] as const) {
      const { body } = await gateway.send(document);
      const items = list.reduce<unknown>((data, name) => Reflect.get(Object(data), name), body.data);
      expect(items).toEqual([item, null, null, null, item]);
      expect(body.errors?.map(({ path, extensions }) => [path, extensions?.code])).toEqual(
        [1, 2, 3].map((index) => [[...list, index], 'UPSTREAM_BAD_RESPONSE']),
      );
    }
    const { body } = await gateway.send('{ notificationStats { key } }');
    const entries = [null, null, null, { key: '2026-01-01' }, { key: '2026-01-01' }]; // Sorted by key.
    expect(body.data).toEqual({ notificationStats: entries });
    expect(body.errors).toHaveLength(3);
    // A record that a batch takes from such a list may be one of the unreadable ones.
    const groups = await gateway.send(
      '{ a: notificationGroup(id: "g1") { name } b: notificationGroup(id: "g2") { name } }',
    );
    expect(groups.body.data).toMatchObject({ a: { name: 'Group' } });
    expect(gateway.service.calls()).toContain('GET /v1/notification-groups/g2');
  });
});

it('null among the parts of a record costs only its own place, and counts as drift', async () => {
  const step = { name: 'Email', template: { type: 'email' } };
  const odd = { ...workflow(), tags: ['a', null], steps: [null, step], triggers: [null] };
  await using gateway = await startGateway({ service: () => ({ body: { data: odd } }) });
  expect(
    await gateway.data('{ workflow(idOrIdentifier: "w1") { tags steps { name } triggers { identifier } identifier } }'),
  ).toEqual({ workflow: { tags: ['a'], steps: [{ name: 'Email' }], triggers: [], identifier: null } });
  expect(await gateway.metrics()).toMatch(/path="data\.steps\[\]",kind="null"\} 1/);
});

describe('a deletion', () => {
  it('with a bare 204 was applied', async () => {
    respondWith((_, { send }) => send('HTTP/1.1 204 No Content\r\n\r\n'));
    for (const name of ['deleteNotificationGroup', 'deleteFeed', 'deleteSubscriber'] as const) {
      expect(Object.values(await gateway.data(ALL_WRITES[name]))).toMatchObject([
        { __typename: expect.stringMatching(/Success$/) },
      ]);
    }
  });

  it.each<[string, ServiceResponse]>([
    ['an error', { body: { statusCode: 500, message: 'db down' } }],
    ['a page', html(200, '<h1>Sign in</h1>')],
    ['cut off', { body: '{' }],
  ])('or another write without a record is UNKNOWN if the body is %s', async (_, response) => {
    respondWith(() => response);
    for (const name of [
      ...(['deleteNotificationGroup', 'deleteFeed', 'deleteMessagesByTransaction'] as const),
      ...(['deleteSubscriber', 'deleteTopic', 'addSubscribersToTopic'] as const),
    ]) {
      expect((await gateway.send(ALL_WRITES[name])).body.errors).toMatchObject([
        { extensions: { code: 'UPSTREAM_BAD_RESPONSE', outcome: 'UNKNOWN' } },
      ]);
    }
  });

  it.each<[string, ServiceResponse]>([
    ['without a body', { status: 204 }],
    ['with an empty 200', { body: '' }],
    ['with null', { body: 'null' }],
    ['with null in an envelope', { body: { data: null } }],
    ['with a text', { body: '"text"' }],
    ['with the deleted record', { body: { data: { ...group(), identifier: 'x', subscriberId: 'u' } } }],
    ['with the id of the record', { body: { data: { _id: 'g1' } } }],
    ['with an acknowledgement', { body: { data: { acknowledged: true, status: 'deleted' } } }],
  ])('that the service confirms %s was applied', async (_, response) => {
    respondWith(() => response);
    expect(
      await gateway.data(`mutation {
        deleteNotificationGroup(input: { id: "g1" }) { ... on DeleteNotificationGroupSuccess { deletedId acknowledged status } }
        deleteFeed(input: { id: "f1" }) { ... on DeleteFeedSuccess { deletedId remainingFeeds { id } } }
        deleteMessagesByTransaction(input: { transactionId: "t" }) { __typename }
        deleteSubscriber(input: { subscriberId: "u" }) { __typename }
        deleteTopic(input: { key: "t" }) { __typename } }`),
    ).toEqual({
      deleteNotificationGroup: { deletedId: 'g1', acknowledged: true, status: 'DELETED' },
      deleteFeed: { deletedId: 'f1', remainingFeeds: null },
      deleteMessagesByTransaction: { __typename: 'DeleteMessagesByTransactionSuccess' },
      deleteSubscriber: { __typename: 'DeleteSubscriberSuccess' },
      deleteTopic: { __typename: 'DeleteTopicSuccess' },
    });
  });
});

it('many invalid items cost little', async () => {
  respondWith(() => ({ body: { data: Array.from({ length: 10_000 }, () => null) } }));
  const fields = Array.from({ length: 20 }, (_, i) => `f${i}: notificationGroups { name }`);
  await gateway.send(LIST); // Warm.
  const { cpuMs } = await measureCpu(() => gateway.send(`{ ${fields.join(' ')} }`));
  expect(cpuMs).toBeLessThan(500); // Without the bound on errors, more than twice as much.
});

it('an event without a status is recognized by its acknowledgement', async () => {
  respondWith(() => ({ status: 201, body: { data: { acknowledged: true, transactionId: 't1' } } }));
  expect(await gateway.data(ALL_WRITES.triggerEvent)).toEqual({
    triggerEvent: { __typename: 'TriggerEventSuccess' },
  });
});

describe('a record of an older service', () => {
  it('has an embedded group also without its id', async () => {
    const { _notificationGroupId: _, ...rest } = workflow();
    respondWith(() => ({ body: { data: { ...rest, notificationGroup: group() } } }));
    const document = '{ workflow(idOrIdentifier: "w1") { notificationGroupId notificationGroup { id name } } }';
    expect(await gateway.data(document)).toEqual({
      workflow: { notificationGroupId: 'g1', notificationGroup: { id: 'g1', name: 'Group' } },
    });
  });

  it('has false for flags that are missing, which is counted as drift', async () => {
    const { critical: _critical, draft: _draft, deleted: _deleted, ...rest } = workflow();
    const { deleted: _, ...user } = subscriber();
    await using gateway = await startGateway({
      service: ({ path }) => ({ body: { data: path.startsWith('/v1/subscribers') ? user : rest } }),
      modules: [subscribers],
    });
    expect(
      await gateway.data(
        '{ workflow(idOrIdentifier: "w1") { critical draft deleted } subscriber(subscriberId: "u") { deleted } }',
      ),
    ).toEqual({ workflow: { critical: false, draft: false, deleted: false }, subscriber: { deleted: false } });
    expect(await gateway.metrics()).toMatch(
      /notigraph_upstream_deviations_total\{.*path="data\.critical",kind="missing"\} 1/,
    );
  });

  it('without "active" is an error, because a guess would mislead', async () => {
    const { active: _, ...rest } = workflow();
    respondWith(() => ({ body: { data: rest } }));
    expect((await gateway.send('{ workflow(idOrIdentifier: "w1") { active } }')).codes).toEqual([
      'UPSTREAM_BAD_RESPONSE',
    ]);
  });
});

describe('a status that asks to try again', () => {
  it('499 does not say what became of a write', async () => {
    respondWith(() => ({ status: 499, body: {} }));
    const { body } = await gateway.send(WRITES.createFeed);
    expect(body.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_ERROR', outcome: 'UNKNOWN' } }]);
  });

  it('425 says that the request was not processed', async () => {
    respondWith(() => ({ status: 425, body: {} }));
    const { body } = await gateway.send(WRITES.createFeed);
    expect(body.errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED', retryable: true } },
    ]);
    expect(gateway.service.requests).toHaveLength(1);
  });

  it.each([408, 425])('R6: a read with %i on a kept connection is retried', async (status) => {
    let count = 0;
    respondWith((request) => {
      count += 1;
      return count === 2 ? { status, body: {} } : healthyResponse(request);
    });
    expect(await gateway.data(READ)).toEqual({ workflow: { id: 'w1', name: 'Workflow' } });
    expect(await gateway.data(READ)).toEqual({ workflow: { id: 'w1', name: 'Workflow' } });
    expect(gateway.service.requests).toHaveLength(3);
  });
});
