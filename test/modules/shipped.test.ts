import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { loadModules } from '../../packages/cli/src/config/load-modules.ts';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { defineModule, type GatewayModule } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import { linesOf, sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { group, workflow } from '../support/records.ts';
import { type Exchange, forwardTo, type Script, startService } from '../support/service.ts';
import { shippedOperations } from '../support/shipped-documents.ts';

/** Starts a gateway with modules in front of a sandbox. */
async function start(...modules: readonly GatewayModule[]) {
  const sandbox = await startSandbox();
  const exchanges: Exchange[] = [];
  const recorder = await startService(forwardTo(sandbox.url, exchanges));
  const gateway = await startGateway({ upstream: recorder.url, modules, federation: true });
  return {
    ...gateway,
    calls: () => exchanges.map(({ method, path }) => `${method} ${path}`),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await sandbox.close();
    },
  };
}

it('every shipped module has a name in configurations, and an entry of the package', async () => {
  const files = (await readdir('src/modules/shipped')).toSorted();
  const names = files.map((file) => `notigraph/modules/${file.replace('.ts', '')}`);
  const modules = await loadModules({ modules: names });
  expect(new Set(modules.map(({ name }) => name)).size).toBe(files.length);
  const entries = names.map((name) => name.replace('notigraph', '.'));
  const isEntry = (entry: string) => entry.startsWith('./modules/');
  expect(Object.keys(manifest.exports).filter(isEntry).toSorted()).toEqual(entries);
  const typed = Object.keys(manifest.typesVersions['*']).map((entry) => `./${entry}`);
  expect(typed.filter(isEntry).toSorted()).toEqual(entries);
  for (const builder of ['scripts/build.ts', 'scripts/tsconfig.build.json']) {
    const built = (await readFile(builder, 'utf8')).match(/(?<=["'](?:\.\.\/)?src\/modules\/)[^"']+/g) ?? [];
    const builtEntries = built.filter((file) => file !== 'schema.ts'); // The build prints the subgraph with it.
    expect(new Set(builtEntries)).toEqual(new Set([...files.map((file) => `shipped/${file}`), 'index.ts']));
  }
});

const TRIGGER = `mutation ($event: EventInput!) {
  triggerEvent(input: { event: $event, idempotencyKey: "k1" }) {
    __typename
    ... on TriggerEventSuccess { replayed event { isProcessed status transactionId problems } }
    ... on InvalidInputError { message }
  }
}`;

it('a notification is triggered, counted, and its messages are deleted', async () => {
  await using gateway = await start(events, subscribers);
  const stats = '{ notificationStats(days: 1) { count } }';
  const countOf = async () => Number(JSON.stringify(await gateway.data(stats)).match(/"count":(\d+)/)?.[1]);
  const before = await countOf();
  const event = {
    workflow: 'payment-failed',
    subscriberIds: ['customer-1001'],
    subscribers: [{ subscriberId: 'new-1', firstName: 'Noa' }],
    payload: { amount: 12 },
    transactionId: 't1',
  };
  const sent = { isProcessed: true, status: 'PROCESSED', transactionId: 't1', problems: [] };
  for (const replayed of [false, true]) {
    expect(await gateway.data(TRIGGER, { event })).toEqual({
      triggerEvent: { __typename: 'TriggerEventSuccess', replayed, event: sent },
    });
  }
  expect(await countOf()).toBe(before + 2 * 3); // Statistics count a notification once for each of its three channels.
  const deletion = await gateway.data(`mutation {
    deleteMessagesByTransaction(input: { transactionId: "t1" }) { __typename }
    cancelTriggeredEvent(input: { transactionId: "t1" }) { ... on CancelTriggeredEventSuccess { isCanceled } }
  }`);
  expect(deletion).toEqual({
    deleteMessagesByTransaction: { __typename: 'DeleteMessagesByTransactionSuccess' },
    cancelTriggeredEvent: { isCanceled: false },
  });
  expect(await gateway.data('{ subscriber(subscriberId: "new-1") { firstName } }')).toEqual({
    subscriber: { firstName: 'Noa' },
  });
});

it('an event that is not sent says why', async () => {
  await using gateway = await start(events);
  expect(
    await gateway.data(TRIGGER, { event: { workflow: 'payment-failed', subscriberIds: ['a'], tenant: 'none' } }),
  ).toMatchObject({
    triggerEvent: { event: { isProcessed: false, status: 'NO_TENANT_FOUND' } },
  });
  expect(
    await gateway.data(TRIGGER.replace('k1', 'k2'), { event: { workflow: 'nope', subscriberIds: ['a'] } }),
  ).toMatchObject({
    triggerEvent: { __typename: 'InvalidInputError', message: expect.stringContaining('workflow_not_found') },
  });
  const { body, codes } = await gateway.send(TRIGGER, { event: { workflow: 'payment-failed' } });
  expect(codes).toEqual(['BAD_USER_INPUT']);
  expect(body.errors?.[0]?.message).toBe(
    'the number of recipients in subscriberIds, subscribers and topicKeys must be between 1 and 100, but is 0.',
  );
  await using scripted = await startGateway({
    service: () => ({ status: 201, body: { data: { acknowledged: true, status: 'error', error: ['No provider.'] } } }),
    modules: [events],
  });
  const failed = await scripted.data(TRIGGER, { event: { workflow: 'w', subscriberIds: ['a'], actorId: 'b' } });
  expect(failed).toMatchObject({
    triggerEvent: { event: { status: 'ERROR', transactionId: null, problems: ['No provider.'] } },
  });
  expect(JSON.parse(scripted.service.requests[0]?.body ?? '')).toEqual({
    name: 'w',
    to: ['a'],
    payload: {},
    actor: 'b',
  });
});

const TRIGGER_ALL = `mutation ($events: [EventInput!]!) {
  triggerEvents(input: { events: $events }) {
    ... on TriggerEventsSuccess { events { isProcessed status problems } }
  }
}`;

it('an event without a payload has an empty one, alone and among several: the endpoint for several requires one', async () => {
  await using gateway = await startGateway({
    service: ({ path, body }) => {
      const processed = { acknowledged: true, status: 'processed', transactionId: 't' };
      const sent = JSON.parse(body);
      return { status: 201, body: { data: path.endsWith('/bulk') ? sent.events.map(() => processed) : processed } };
    },
    modules: [events],
  });
  const event = { workflow: 'w', subscriberIds: ['a'] };
  const all = [event, { ...event, payload: null }, { ...event, payload: {} }, { ...event, payload: { a: null } }];
  for (const each of all) {
    await gateway.data(TRIGGER, { event: each });
  }
  await gateway.data(TRIGGER_ALL, { events: all });
  const [several, ...singles] = gateway.service.requests.map(({ body }) => JSON.parse(body)).toReversed();
  const sent = [{}, {}, {}, { a: null }].map((payload) => ({ name: 'w', to: ['a'], payload }));
  expect([several, singles.toReversed()]).toEqual([{ events: sent }, sent]);
});

it.each([
  ...['processed', 'trigger_not_active', 'no_workflow_active_steps_defined', 'no_workflow_steps_defined'],
  ...['subscriber_id_missing', 'invalid_recipients', 'no_tenant_found', 'error'],
])('an event’s status %s has a value of the enum', async (status) => {
  await using gateway = await startGateway({
    service: ({ path }) => {
      const result = { acknowledged: true, status };
      return { status: 201, body: { data: path.endsWith('/bulk') ? [result] : result } };
    },
    modules: [events],
  });
  const event = { workflow: 'w', subscriberIds: ['a@b', 'a b'] };
  const expected = { isProcessed: status === 'processed', status: status.toUpperCase(), problems: [] };
  expect(await gateway.data(TRIGGER, { event })).toMatchObject({ triggerEvent: { event: expected } });
  expect(await gateway.data(TRIGGER_ALL, { events: [event] })).toEqual({ triggerEvents: { events: [expected] } });
});

it('an event’s unknown status is among its problems, in the word of the service', async () => {
  const results = [
    { acknowledged: true, status: 'quota_exceeded' },
    { acknowledged: true, status: 'on_hold', error: ['Ask support.'] },
    { acknowledged: true },
  ];
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: results } }),
    modules: [events],
  });
  const event = { workflow: 'w', subscriberIds: ['a'] };
  expect(await gateway.data(TRIGGER_ALL, { events: [event, event, event] })).toEqual({
    triggerEvents: {
      events: [['quota_exceeded'], ['on_hold', 'Ask support.'], []].map((problems) => ({
        isProcessed: false,
        status: null,
        problems,
      })),
    },
  });
});

it('the operations of modules are valid, work on the sandbox, and make the calls that they name', async () => {
  const modules = [events, inbox, messages, subscribers, topics, workflowPages];
  await using gateway = await start(...modules);
  const builtIn = new Set(loadOperations().map(({ name }) => name));
  for (const { name, query, variables = '{}', calls } of shippedOperations.filter(({ name }) => !builtIn.has(name))) {
    const before = gateway.calls().length;
    expect([name, JSON.stringify(await gateway.data(query, JSON.parse(variables)))]).toEqual([
      name,
      expect.not.stringContaining('"message"'),
    ]);
    expect(gateway.calls().slice(before)).toEqual(calls);
  }
  expect(loadOperations(createSchema(undefined, [topics])).map(({ name }) => name)).not.toContain('TriggerEvent');
});

it('several events are one call, with a result each', async () => {
  await using gateway = await start(events);
  const item = (id: string) => `{ workflow: "payment-failed", subscriberIds: ["${id}"], transactionId: "t-${id}" }`;
  const document = `mutation { triggerEvents(input: { events: [${item('a')}, ${item('b')}] }) { ... on TriggerEventsSuccess { events { transactionId isProcessed } } } }`;
  expect(await gateway.data(document)).toEqual({
    triggerEvents: { events: ['t-a', 't-b'].map((transactionId) => ({ transactionId, isProcessed: true })) },
  });
  expect(gateway.calls()).toEqual(['POST /v1/events/trigger/bulk']);
});

it('several events whose results are not one per event have an unknown result', async () => {
  const results = [{ acknowledged: true, status: 'processed' }];
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: results } }),
    modules: [events],
  });
  const item = '{ workflow: "w", subscriberIds: ["a"] }';
  const { body } = await gateway.send(
    `mutation { triggerEvents(input: { events: [${item}, ${item}] }) { __typename } }`,
  );
  expect(body.errors).toMatchObject([
    { message: expect.stringContaining('1 results for 2 events'), extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
  ]);
});

it('subscribers are read once per operation, paged, changed, and resolved for a router', async () => {
  await using gateway = await start(subscribers);
  const query =
    '{ a: subscriber(subscriberId: "customer-1001") { firstName } b: subscriber(subscriberId: "customer-1001") { lastName } c: subscriber(subscriberId: "nobody") { id } }';
  expect(await gateway.data(query)).toEqual({ a: { firstName: 'Amara' }, b: { lastName: 'Okafor' }, c: null });
  expect(gateway.calls()).toEqual(['GET /v1/subscribers/customer-1001', 'GET /v1/subscribers/nobody']);
  expect(
    await gateway.data('{ subscribers(page: 1, limit: 2) { page hasMore subscribers { subscriberId } } }'),
  ).toEqual({
    subscribers: {
      page: 1,
      hasMore: true,
      subscribers: [{ subscriberId: 'customer-1003' }, { subscriberId: 'customer-1004' }],
    },
  });
  expect((await gateway.send('{ subscribers(limit: 101) { page } }')).codes).toEqual(['BAD_USER_INPUT']);
  const entity =
    '{ _entities(representations: [{ __typename: "Subscriber", subscriberId: "customer-1002" }]) { ... on Subscriber { subscriberId } } }';
  expect(await gateway.data(entity)).toEqual({ _entities: [{ subscriberId: 'customer-1002' }] });
  const changes = await gateway.data(`mutation {
    update: updateSubscriber(input: { subscriberId: "customer-1001", lastName: "Adeyemi", email: null }) { ... on UpdateSubscriberSuccess { subscriber { firstName lastName } } }
    unknown: updateSubscriber(input: { subscriberId: "nobody", lastName: "A" }) { __typename }
    delete: deleteSubscriber(input: { subscriberId: "customer-1001" }) { ... on DeleteSubscriberSuccess { deletedId } }
    again: deleteSubscriber(input: { subscriberId: "customer-1001" }) { ... on NotFoundError { requestedId } }
  }`);
  expect(changes).toEqual({
    update: { subscriber: { firstName: 'Amara', lastName: 'Adeyemi' } },
    unknown: { __typename: 'NotFoundError' },
    delete: { deletedId: 'customer-1001' },
    again: { requestedId: 'customer-1001' },
  });
});

it('topics are created, filled, renamed and deleted', async () => {
  await using gateway = await start(topics);
  const create =
    'mutation { createTopic(input: { key: "makers", name: "Makers" }) { __typename ... on CreateTopicSuccess { topic { key name subscriberIds } } } }';
  expect(await gateway.data(create)).toEqual({
    createTopic: { __typename: 'CreateTopicSuccess', topic: { key: 'makers', name: 'Makers', subscriberIds: [] } },
  });
  expect(await gateway.data(create)).toEqual({ createTopic: { __typename: 'ConflictError' } });
  const changes = await gateway.data(`mutation {
    add: addSubscribersToTopic(input: { key: "makers", subscriberIds: ["customer-1001", "nobody"] }) { ... on AddSubscribersToTopicSuccess { addedIds unknownIds } }
    rename: renameTopic(input: { key: "makers", name: "All" }) { ... on RenameTopicSuccess { topic { name subscriberIds } } }
    tooEarly: deleteTopic(input: { key: "makers" }) { __typename }
    remove: removeSubscribersFromTopic(input: { key: "makers", subscriberIds: ["customer-1001"] }) { ... on RemoveSubscribersFromTopicSuccess { key removedIds } }
  }`);
  expect(changes).toEqual({
    add: { addedIds: ['customer-1001'], unknownIds: ['nobody'] },
    rename: { topic: { name: 'All', subscriberIds: ['customer-1001'] } },
    tooEarly: { __typename: 'ConflictError' },
    remove: { key: 'makers', removedIds: ['customer-1001'] },
  });
  expect(
    await gateway.data('{ topic(key: "makers") { name } topics(key: "makers") { totalCount topics { key } } }'),
  ).toEqual({
    topic: { name: 'All' },
    topics: { totalCount: 1, topics: [{ key: 'makers' }] },
  });
  const { length } = gateway.calls();
  expect(await gateway.data('{ topics(pageSize: 10) { totalCount } }')).toEqual({ topics: { totalCount: 1 } });
  for (const pageSize of [0, 11, 100]) {
    const { body, codes } = await gateway.send(`{ topics(pageSize: ${pageSize}) { totalCount } }`);
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(body.errors?.[0]?.message).toBe(`pageSize must be between 1 and 10, but is ${pageSize}.`);
  }
  expect(gateway.calls().slice(length)).toEqual(['GET /v1/topics?page=0&pageSize=10']);
  const remove =
    'mutation { deleteTopic(input: { key: "makers" }) { ... on DeleteTopicSuccess { deletedKey } ... on NotFoundError { requestedId } } }';
  expect(await gateway.data(remove)).toEqual({ deleteTopic: { deletedKey: 'makers' } });
  expect(await gateway.data(remove)).toEqual({ deleteTopic: { requestedId: 'makers' } });
});

it('workflows are listed in pages and searched, each with its group', async () => {
  await using gateway = await start(workflowPages);
  const query =
    'query ($page: Int! = 0, $query: String) { workflowPage(page: $page, limit: 2, query: $query) { page totalCount workflows { identifier active notificationGroup { name } } } }';
  const [first, second] = [await gateway.data(query), await gateway.data(query, { page: 1 })];
  expect(gateway.calls()).toEqual(['GET /v1/workflows?page=0&limit=2', 'GET /v1/workflows?page=1&limit=2']);
  const identifiers = [first, second].map((data) => JSON.stringify(data).match(/(?<="identifier":")[^"]+/g));
  expect(new Set(identifiers.flat()).size).toBe(4);
  expect(await gateway.data(query, { query: 'FAIL' })).toEqual({
    workflowPage: {
      page: 0,
      totalCount: 1,
      workflows: [{ identifier: 'payment-failed', active: true, notificationGroup: { name: 'Billing' } }],
    },
  });
  expect(gateway.calls()[2]).toBe('GET /v1/workflows?page=0&limit=2&query=FAIL');
  expect(await gateway.data(query, { page: 100, query: null })).toMatchObject({ workflowPage: { workflows: [] } });
  expect(gateway.calls().at(-1)).toBe('GET /v1/workflows?page=100&limit=2');
  const { length } = gateway.calls();
  for (const args of ['limit: 101', 'limit: 0', 'page: -1']) {
    expect((await gateway.send(`{ workflowPage(${args}) { page } }`)).codes).toEqual(['BAD_USER_INPUT']);
  }
  expect(gateway.calls()).toHaveLength(length);
});

it.each([
  ['topics(key: "") { page }', 'key'],
  ['workflowPage(query: "") { page }', 'query'],
])('an empty filter is refused, because the service would return all records (%s)', async (field, name) => {
  await using gateway = await startGateway({
    service: () => ({ body: { page: 0, totalCount: 0, data: [] } }),
    modules: [topics, workflowPages],
  });
  const { body, codes } = await gateway.send(`{ ${field} }`);
  expect([codes, body.errors?.[0]?.message]).toEqual([['BAD_USER_INPUT'], `${name} must not be empty.`]);
  expect(gateway.service.requests).toEqual([]);
});

/** Service whose list has less of a workflow than the read of a single one. */
const THIN_LIST: Script = ({ path }) => {
  const step = (template: object) => [{ _id: 's1', name: 'Email', filters: [], template: { _id: 's1', ...template } }];
  const [id = ''] = /[^/?]+$/.exec(path) ?? [];
  const listed = ['w1', 'w2'].map((_id) => ({
    ...workflow({ _id, notificationGroup: group() }),
    steps: step({ type: 'email' }),
  }));
  return path.startsWith('/v1/workflows?')
    ? { body: { page: 0, pageSize: 10, totalCount: 2, data: listed } }
    : id === 'w2'
      ? { status: 404, body: { message: 'No such workflow.', error: 'Not Found', statusCode: 404 } }
      : { body: { data: { ...workflow(), steps: step({ type: 'email', content: 'Hello', subject: 'Hi' }) } } };
};

describe('a page of workflows', () => {
  const startThin = (options: Partial<GatewayOptions> = {}) =>
    startGateway({ service: THIN_LIST, modules: [workflowPages], federation: true, introspection: true, ...options });
  const SUMMARY = 'workflowId name notificationGroup { name } steps { stepId name type extra } extra __typename';

  it('has what the list has, and no field for what only the complete workflow has', async () => {
    await using gateway = await startThin();
    const step = { stepId: 's1', name: 'Email', type: 'email', extra: null };
    const summary = { name: 'Workflow', notificationGroup: { name: 'Group' }, steps: [step], extra: null };
    expect(await gateway.data(`{ workflowPage { totalCount workflows { ${SUMMARY} } } }`)).toEqual({
      workflowPage: {
        totalCount: 2,
        workflows: ['w1', 'w2'].map((workflowId) => ({ workflowId, ...summary, __typename: 'WorkflowSummary' })),
      },
    });
    expect(gateway.service.calls()).toEqual(['GET /v1/workflows?page=0&limit=10']);
    for (const selection of ['id', 'steps { id }', 'steps { template { type } }']) {
      const { status } = await gateway.send(`{ workflowPage { workflows { ${selection} } } }`);
      expect([selection, status]).toEqual([selection, 400]);
    }
  });

  it('loads each complete workflow once, within the budget of calls', async () => {
    const complete = '{ workflowPage { workflows { workflow { id steps { template { content } } } } } }';
    await using gateway = await startThin();
    const loaded = { id: 'w1', steps: [{ template: { content: 'Hello' } }] };
    expect(
      await gateway.data(
        `query { one: workflow(idOrIdentifier: "w1") { id } ...Page } fragment Page on Query ${complete}`,
      ),
    ).toEqual({
      one: { id: 'w1' },
      workflowPage: { workflows: [{ workflow: loaded }, { workflow: null }] },
    });
    expect(gateway.service.calls().toSorted()).toEqual([
      'GET /v1/workflows/w1',
      'GET /v1/workflows/w2',
      'GET /v1/workflows?page=0&limit=10',
    ]);
    const explained = await sendExplain(gateway, { query: complete }, { authorization: 'ApiKey a' });
    expect(linesOf(explained.body.extensions?.explain ?? expect.unreachable())).toEqual([
      '1 [] GET workflows 1..1 Query.workflowPage',
      '2 [1] GET workflows/{workflowIdOrIdentifier} 0..49 WorkflowSummary.workflow',
    ]);
    await using poor = await startThin({ maxUpstreamCalls: 2 });
    const { body, codes } = await poor.send(complete);
    expect([body.data, codes]).toEqual([
      { workflowPage: { workflows: [{ workflow: loaded }, { workflow: null }] } },
      ['BUDGET_EXCEEDED'],
    ]);
  });

  it('is no entity: other subgraphs refer to the complete workflow', async () => {
    await using gateway = await startThin();
    const resolve = (typeName: string) =>
      gateway.send(
        `{ _entities(representations: [{ __typename: "${typeName}", id: "w1" }]) { ... on Workflow { steps { template { content } } } } }`,
      );
    expect((await resolve('Workflow')).body.data).toEqual({
      _entities: [{ steps: [{ template: { content: 'Hello' } }] }],
    });
    expect((await resolve('WorkflowSummary')).codes).toEqual(['BAD_USER_INPUT']);
  });
});

it('the list of workflows is stored like a workflow, until one or its group is changed', async () => {
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: path.startsWith('/v1/workflows?')
        ? { page: 0, totalCount: 1, data: [workflow()] }
        : { data: path.includes('groups') ? group() : workflow() },
    }),
    modules: [workflowPages],
    cache: true,
  });
  const list = '{ workflowPage { workflows { name } } }';
  const listed = 'GET /v1/workflows?page=0&limit=10';
  for (const write of [
    'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { __typename } }',
    'mutation { updateNotificationGroup(input: { id: "g1", name: "n" }) { __typename } }',
    'mutation { createFeed(input: { name: "n" }) { __typename } }',
  ]) {
    await gateway.data(list);
    await gateway.data(list);
    await gateway.data(write);
  }
  await gateway.data(list);
  expect(gateway.service.calls()).toEqual([
    listed,
    'PUT /v1/workflows/w1/status',
    listed,
    'PATCH /v1/notification-groups/g1',
    listed,
    'POST /v1/feeds',
  ]);
});

it('a service that adds subscribers without a body added all', async () => {
  await using gateway = await startGateway({ service: () => ({ status: 204 }), modules: [topics] });
  const add =
    'mutation { addSubscribersToTopic(input: { key: "k", subscriberIds: ["a"] }) { ... on AddSubscribersToTopicSuccess { addedIds unknownIds } } }';
  expect(await gateway.run(add)).toEqual({ addSubscribersToTopic: { addedIds: ['a'], unknownIds: [] } });
});

it('another module adds fields to the shipped types, and links records with their loaders', async () => {
  const owners = defineModule('owners', ({ builder, declareCalls, requireScopes, use }) => {
    const { Subscriber, subscriber } = use(subscribers);
    const { Topic, topic } = use(topics);
    const { TriggeredEvent } = use(events);
    const { WorkflowSummary } = use(workflowPages);
    builder.objectField(Topic, 'owner', (t) =>
      t.field({
        type: Subscriber,
        nullable: true,
        extensions: declareCalls('1 per owner', { loader: subscriber, reason: 'One per owner.' }),
        resolve: ({ name }, _args, ctx) => ctx.loaders.load(subscriber, name),
      }),
    );
    builder.objectField(Subscriber, 'topic', (t) =>
      t.field({
        type: Topic,
        nullable: true,
        extensions: declareCalls('1 per topic', { loader: topic, reason: 'One per topic.' }),
        resolve: (_subscriber, _args, ctx) => ctx.loaders.load(topic, 'vip'),
      }),
    );
    const extensions = requireScopes('owners:read');
    builder.objectField(TriggeredEvent, 'isDone', (t) =>
      t.boolean({ extensions, resolve: ({ status }) => status === 'processed' }),
    );
    builder.objectField(WorkflowSummary, 'title', (t) => t.string({ extensions, resolve: ({ name }) => name }));
  });
  const respond: Script = ({ path }) => ({
    body: { data: path.includes('topics') ? { key: 'vip', name: 's1' } : { subscriberId: 's1', firstName: 'Ada' } },
  });
  await using gateway = await startGateway({ service: respond, modules: [owners] });
  const query = '{ topic(key: "vip") { owner { firstName topic { key } } } }';
  expect(await gateway.run(query)).toEqual({ topic: { owner: { firstName: 'Ada', topic: { key: 'vip' } } } });
  expect(gateway.service.calls()).toEqual(['GET /v1/topics/vip', 'GET /v1/subscribers/s1']);
  const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
  expect(body.extensions?.explain && linesOf(body.extensions.explain)).toEqual([
    '1 [] GET topics/{topicKey} 1..1 Query.topic',
    '2 [1] GET subscribers/{subscriberId} 0..1 Topic.owner',
    '3 [2] GET topics/{topicKey} 0..1 Subscriber.topic',
  ]);
});
