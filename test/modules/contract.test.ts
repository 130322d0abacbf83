import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { defineModule, type GatewayModule } from '../../src/modules/index.ts';
import { ModuleError, type Toolkit } from '../../src/modules/module.ts';
import { createSchema, printSdl } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscribers from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import { endpoint } from '../../src/upstream/endpoint.ts';
import { CONTRACT } from '../../src/upstream/endpoints.ts';
import { numbersOf, sendExplain } from '../support/explain.ts';
import { describeContract, type Field } from '../support/field-contract.ts';
import { deviationsIn, type GatewayWithService, startGateway } from '../support/gateway.ts';
import { generateModule } from '../support/generated-module.ts';
import { guards } from '../support/guards.ts';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import { forwardTo, type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/modules/toolkit/mutation-run.ts', 'MutationRun.constructor');
guards('src/modules/module.ts', 'defineAll.own');
guards('src/modules/schema.ts', 'assertEndpoints');

import { bulkOf, layouts } from './example.ts';

// What fields get by declaration: first what each makes of its call, built-in or of a module, then what a module can declare besides.

/** A field for each endpoint of the contract. */
const BUILT_IN: readonly Field[] = [
  {
    endpoint: 'GET /v1/workflows/{workflowIdOrIdentifier}',
    text: 'workflow(idOrIdentifier: $id) { __typename }',
    body: { data: workflow() },
  },
  {
    endpoint: 'PUT /v1/workflows/{workflowId}/status',
    text: 'updateWorkflowStatus(input: { workflowId: $id, active: true })',
    body: { data: workflow() },
    isRepeatable: true,
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'GET /v1/notification-groups/{id}',
    text: 'notificationGroup(id: $id) { __typename }',
    body: { data: group() },
  },
  { endpoint: 'GET /v1/notification-groups', text: 'notificationGroups { __typename }', body: { data: [group()] } },
  {
    endpoint: 'POST /v1/notification-groups',
    text: 'createNotificationGroup(input: { name: "n" })',
    body: { data: group() },
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'PATCH /v1/notification-groups/{id}',
    text: 'updateNotificationGroup(input: { id: $id, name: "n" })',
    body: { data: group() },
    isIdempotent: true,
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'DELETE /v1/notification-groups/{id}',
    text: 'deleteNotificationGroup(input: { id: $id })',
    body: { data: { acknowledged: true, status: 'deleted' } },
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'GET /v1/notifications/graph/stats',
    text: 'notificationStats(days: 3) { __typename }',
    path: '/v1/notifications/graph/stats?days=3',
    body: [],
  },
  {
    endpoint: 'POST /v1/subscribers',
    text: 'createSubscriber(input: { subscriberId: "s1" })',
    body: { data: subscriber() },
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'POST /v1/feeds',
    text: 'createFeed(input: { name: "n" })',
    body: { data: feed() },
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'DELETE /v1/feeds/{feedId}',
    text: 'deleteFeed(input: { id: $id })',
    body: { data: [feed()] },
    returns: ['NotFoundError', 'ConflictError'],
  },
  {
    endpoint: 'DELETE /v1/messages/transaction/{transactionId}',
    text: 'deleteMessagesByTransaction(input: { transactionId: $id })',
    returns: ['NotFoundError'],
  },
];

it('every endpoint of the contract has a field that is tested', () => {
  expect(BUILT_IN.map(({ endpoint }) => endpoint).toSorted(), 'BUILT_IN of this test, CONTRACT').toEqual(
    CONTRACT.map(({ method, route }) => `${method} ${route}`).toSorted(),
  );
});

const books = await generateModule('books', 'packages/cli/test/documents/library.yaml');
const BOOK = { data: { _id: 'b1', title: 'Emma', status: 'on-loan', author_id: 'a1' } };

const GENERATED: readonly Field[] = [
  {
    endpoint: 'GET /v1/books',
    text: 'books(page: 3) { __typename }',
    path: '/v1/books?page=3',
    body: { data: [BOOK.data], hasMore: false },
  },
  {
    endpoint: 'POST /v1/books',
    text: 'createBook(input: { title: "n", inPrint: true })',
    body: BOOK,
    isIdempotent: true,
    returns: ['ConflictError'],
  },
  {
    endpoint: 'GET /v1/books/{bookId}',
    text: 'book(bookId: $id, lang: "en") { __typename }',
    path: '/v1/books/{}?lang=en',
    body: BOOK,
  },
  {
    endpoint: 'PATCH /v1/books/{bookId}',
    text: 'renameBook(input: { bookId: $id, title: "n" })',
    body: BOOK,
    returns: ['NotFoundError', 'ConflictError'],
  },
  { endpoint: 'DELETE /v1/books/{bookId}', text: 'deleteBook(input: { bookId: $id })', returns: ['NotFoundError'] },
  { endpoint: 'GET /v1/authors', text: 'authors { __typename }', body: [{ id: 'a1', name: 'Jane' }] },
  { endpoint: 'GET /v1/authors/{id}', text: 'author(id: $id) { __typename }', body: { id: 'a1', name: 'Jane' } },
];

describeContract([...BUILT_IN, ...GENERATED], [books]);

const layout = (id: string) => ({ _id: id, name: `Layout ${id}` });

/** Responds as the service of the module would. */
const respond: Script = ({ method, path, body }) => {
  const ids = /\?ids=(.*)$/.exec(path)?.[1];
  if (path.startsWith('/v1/layouts/count')) {
    return { body: { data: { count: 7 } } };
  }
  if (method === 'GET') {
    return ids === undefined
      ? { body: { data: layout(path.slice('/v1/layouts/'.length)) } }
      : { body: { data: decodeURIComponent(ids).split(',').toReversed().map(layout) } };
  }
  return method === 'POST'
    ? { status: 201, body: { data: { _id: 'l9', ...JSON.parse(body) } } }
    : { body: layout('l1') };
};

const start = (script: Script = respond, options: Partial<GatewayOptions> = {}): Promise<GatewayWithService> =>
  startGateway({ service: script, modules: [layouts], ...options });

const CREATE =
  'mutation { createLayout(input: { name: "N", content: "<p>\\n</p>" }) { __typename ... on MutationError { code message } ... on InvalidInputError { issues { path } } } }';

describe('a read of a module', () => {
  it('is batched: several keys take calls of at most three, whose rows are matched by id', async () => {
    await using gateway = await start();
    const query = `{ ${['a', 'b', 'c', 'd', 'a'].map((id, i) => `l${i}: layout(id: "${id}") { name }`).join(' ')} }`;
    const names = ['a', 'b', 'c', 'd', 'a'].map((id, i) => [`l${i}`, { name: `Layout ${id}` }]);
    expect(await gateway.run(query)).toEqual(Object.fromEntries(names));
    expect(gateway.service.calls()).toEqual(['GET /v1/layouts?ids=a%2Cb%2Cc', 'GET /v1/layouts?ids=d']);
  });

  it('is batched without a read of one record, from pages, whose records are null only if the page is complete', async () => {
    const tags = defineModule('tags', ({ builder, declareCalls, endpoint: declare, loader, requireScopes }) => {
      const list = declare('GET /v1/tags', { expect: 'page', lists: 'comma' })
        .takes<{ query: { ids: readonly string[] } }>()
        .returns<{ data: { _id: string }[]; hasMore?: boolean }>();
      const tag = loader<{ _id: string }>({
        name: 'tag',
        many: { endpoint: list, keyOf: ({ _id }) => _id, argsOf: (ids) => ({ query: { ids } }), max: 2 },
      });
      builder.queryField('tag', (t) =>
        t.id({
          nullable: true,
          extensions: { ...requireScopes('tags:read'), ...declareCalls('1 for the whole operation') },
          args: { id: t.arg.id({ required: true }) },
          resolve: async (_root, { id }, ctx) => (await ctx.loaders.load(tag, id))?._id ?? null,
        }),
      );
    });
    let hasMore = false;
    const script: Script = ({ path }) => {
      const ids = decodeURIComponent(path.split('=')[1] ?? '').split(',');
      return { body: { data: ids.filter((id) => id !== 'x').map((_id) => ({ _id })), hasMore } };
    };
    await using gateway = await start(script, { modules: [tags] });
    expect(await gateway.run('{ one: tag(id: "a") }')).toEqual({ one: 'a' });
    const several = '{ a: tag(id: "a") b: tag(id: "b") x: tag(id: "x") again: tag(id: "a") }';
    expect(await gateway.run(several)).toEqual({ a: 'a', b: 'b', x: null, again: 'a' });
    expect(gateway.service.calls()).toEqual(['GET /v1/tags?ids=a', 'GET /v1/tags?ids=a%2Cb', 'GET /v1/tags?ids=x']);
    hasMore = true;
    const { body, codes } = await gateway.send(several, {}, { authorization: 'ApiKey a' });
    expect([body.data, codes]).toEqual([{ a: 'a', b: 'b', x: null, again: 'a' }, ['UPSTREAM_BAD_RESPONSE']]);
    gateway.service.forget();
    expect(await gateway.run('{ tag(id: "..") }')).toEqual(['BAD_USER_INPUT']);
    expect(gateway.service.calls()).toEqual([]);
  });

  it('is stored only if its endpoint says so, for one credential, until a write that empties it', async () => {
    await using gateway = await start(respond, { cache: true });
    const count = () => gateway.service.calls().filter((call) => call.includes('count')).length;
    const query = '{ layoutCount layout(id: "l1") { id } }';
    await gateway.run(query, 'a');
    await gateway.run(query, 'a');
    expect([count(), gateway.service.requests.length]).toEqual([1, 3]);
    await gateway.run(query, 'b');
    expect(count()).toBe(2);
    await gateway.run(CREATE, 'a');
    await gateway.run(query, 'a');
    expect(count()).toBe(3);
    expect(gateway.service.calls()[0]).toContain('?kind=a%26b');
    expect(await gateway.metrics()).toContain('resource="layouts"');
  });

  it('is compared with the shape of its endpoint', async () => {
    await using gateway = await start(() => ({ body: { data: { _id: 'l1', name: null } } }));
    const { codes } = await gateway.send('{ layout(id: "l1") { id name } }');
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    expect(deviationsIn(gateway.log)).toEqual(['GET /v1/layouts/{id} data.name null']);
  });

  it('can mask a field for browsers', async () => {
    const signer = createSigner();
    const clients = clientsOf(signer, { scopes: ['layouts:read'] });
    await using gateway = await start(() => ({ body: { data: { ...layout('l1'), secret: 's3cret' } } }), { clients });
    const read = async (authorization: string) =>
      (await gateway.send('{ layout(id: "l1") { secret } }', {}, { authorization })).body.data;
    expect(await read('ApiKey a')).toEqual({ layout: { secret: 's3cret' } });
    expect(await read(await signer.bearer({ scope: 'layouts:read' }))).toEqual({ layout: { secret: '[masked]' } });
  });
});

it('a scope that neither a module nor the built-in schema has is refused', async () => {
  const clients = clientsOf(createSigner(), { scopes: ['layouts:read', 'layout:read'] });
  const problemOf = (path: string, scope: string) =>
    `${path} must be a scope that a field requires, but none requires ${scope}; add the module with it to modules, or remove it.`;
  await expect(start(respond, { clients })).rejects.toThrow(problemOf('clients.browser.scopes.1', 'layout:read'));
  await expect(start(respond, { clients, modules: [] })).rejects.toThrow(
    problemOf('clients.browser.scopes.0', 'layouts:read'),
  );
});

describe('a write of a module', () => {
  it('sends texts with line breaks only where they are declared', async () => {
    await using gateway = await start();
    expect(await gateway.run(CREATE)).toEqual({ createLayout: { __typename: 'CreateLayoutSuccess' } });
    expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({ name: 'N', content: '<p>\n</p>' });
    expect(await gateway.run(CREATE.replace('"N"', '"N\\n"'))).toMatchObject({
      createLayout: { __typename: 'InvalidInputError', issues: [{ path: ['input', 'name'] }] },
    });
    expect(gateway.service.requests).toHaveLength(1);
  });
});

describe('an item of a bulk write of a module', () => {
  const SELECTION = '{ succeeded failed results { __typename ... on MutationError { message } } }';
  const archive = (count: number) =>
    `mutation { archiveLayouts(input: { layouts: [${Array.from({ length: count }, (_, i) => `{ layoutId: "l${i}" }`)}] }) ${SELECTION} }`;

  it('can be missing', async () => {
    await using gateway = await start(({ path }) =>
      path.endsWith('l1') ? { status: 404, body: { message: 'No.' } } : { body: layout('l0') },
    );
    expect(await gateway.run(archive(2))).toEqual({
      archiveLayouts: {
        succeeded: 1,
        failed: 1,
        results: [{ __typename: 'ArchiveLayoutSuccess' }, { __typename: 'NotFoundError', message: 'No.' }],
      },
    });
  });

  it('that exceeds the bulk items of its operation is not sent', async () => {
    await using gateway = await start(respond, { maxUpstreamCalls: 1 });
    const field = /archiveLayouts.* (?=}$)/s.exec(archive(10))?.[0] ?? '';
    const data = await gateway.run(`mutation { ${Array.from({ length: 11 }, (_, i) => `a${i}: ${field}`).join(' ')} }`);
    expect(data).toMatchObject({ a9: { succeeded: 10, failed: 0 }, a10: { succeeded: 0, failed: 10 } });
    expect(gateway.service.requests).toHaveLength(100);
  });

  it('whose code throws fails the mutation, and the gateway continues', async () => {
    const throwing = defineModule('throwing', ({ bulkMutation, endpoint: declare, mutation }) => {
      const check = mutation('check', {
        description: 'Checks a layout.',
        scope: 'layouts:write',
        endpoint: declare('POST /v1/checks/{id}').returns<object>(),
        input: { description: 'It.', fields: (t) => ({ id: t.id({ required: true }) }) },
        // Not async, so that it throws instead of returning a promise that rejects.
        resolve({ id }, send) {
          if (id === '11') {
            throw new Error('a bug');
          }
          return send({ id });
        },
        success: {
          description: 'It is fine.',
          fields: (t) => ({ isFine: t.boolean({ description: 'Whether it is.', resolve: () => true }) }),
        },
      });
      bulkMutation('checkAll', check, bulkOf('layouts', 50));
    });
    await using gateway = await start(() => ({ body: { data: {} } }), { modules: [throwing] });
    const items = Array.from({ length: 12 }, (_, i) => `{ id: "${i}" }`); // The eleventh and twelfth wait for others.
    expect(await gateway.run(`mutation { checkAll(input: { layouts: [${items}] }) { succeeded } }`)).toEqual([
      'INTERNAL_SERVER_ERROR',
    ]);
    expect(await gateway.run('{ __typename }')).toEqual({ __typename: 'Query' });
  });
});

describe('the explanation of an operation', () => {
  const modules = [events, inbox, messages, subscribers, topics, workflowPages, layouts];
  const schema = createSchema({ federation: true, introspection: true }, modules);
  const shipped = loadOperations(schema).map(({ query, variables = '{}' }) => [query, JSON.parse(variables)] as const);
  const others = [
    '{ layoutCount a: layout(id: "a") { name } b: layout(id: "b") { name } }',
    '{ _entities(representations: [{ __typename: "Layout", id: "a" }, { __typename: "Topic", key: "t" }, { __typename: "Workflow", id: "payment-failed" }]) { ... on Workflow { notificationGroup { name } } } }',
    '{ topic(key: "makers") { name } }',
    '{ feeds { name } messages(limit: 100) { messages { workflow { name } } } }',
    '{ workflowPage(limit: 2, query: "e") { workflows { notificationGroup { name } } } again: workflowPage { workflows { notificationGroup { name } workflow { name } } } }',
    'mutation { updateWorkflowStatus(input: { workflowId: "w", active: true }) { __typename } again: updateWorkflowStatus(input: { workflowId: "w", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { notificationGroup { name } } } } }',
    'mutation { createLayout(input: { name: "n", content: "" }) { __typename } createLayouts(input: { layouts: [{ name: "n", content: "" }, { name: "m", content: "" }] }) { succeeded } }',
    `mutation { archiveLayout(input: { layoutId: "a" }) { __typename } archiveLayouts(input: { layouts: [${Array.from({ length: 25 }, (_, i) => `{ layoutId: "${i}" }`)}] }) { succeeded } publishLayout(input: { id: "a" }) { __typename } }`,
    'mutation { triggerEvents(input: { events: [{ workflow: "payment-failed", subscriberIds: ["a"] }] }) { __typename } cancelTriggeredEvent(input: { transactionId: "t" }) { __typename } }',
    'mutation { renameTopic(input: { key: "makers", name: "n" }) { __typename } removeSubscribersFromTopic(input: { key: "makers", subscriberIds: ["a"] }) { __typename } deleteTopic(input: { key: "none" }) { __typename } deleteSubscriber(input: { subscriberId: "a" }) { __typename } }',
  ].map((query) => [query, {}] as const);
  const operations = [...shipped, ...others];

  it('is tested with every root field', () => {
    const roots = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    const selected = operations.map(([query]) => query).join();
    const missing = roots.filter((name) => !new RegExp(`\\b${name}\\b`).test(selected));
    expect(missing).toEqual(['_service']);
  });

  it('lists every call, with the number of calls within its limits', async () => {
    await using sandbox = await startSandbox();
    const forward = forwardTo(sandbox.url, []);
    const undeclared: string[] = [];
    await using gateway = await startGateway(
      {
        service: (request, connection) =>
          request.path.startsWith('/v1/layouts') ? respond(request, connection) : forward(request, connection),
        modules,
        federation: true,
      },
      { onUndeclaredCall: (problem) => void undeclared.push(problem) },
    );
    const authorization = `ApiKey ${SANDBOX_KEYS.development}`;
    let calls = 0;
    for (const [query, variables] of operations) {
      const { body } = await sendExplain(gateway, { query, variables }, { authorization });
      expect(gateway.service.calls()).toEqual([]);
      await gateway.send(query, variables, { authorization });
      expect(
        numbersOf(body.extensions?.explain ?? expect.unreachable(JSON.stringify(body)), gateway.service.calls()),
      ).toEqual([]);
      calls += gateway.service.calls().length;
      gateway.service.forget();
    }
    expect(undeclared).toEqual([]);
    expect(calls).toBeGreaterThan(operations.length);
  });
});

describe('a module', () => {
  it('becomes part of the schema, which is the same without it', () => {
    const sdl = printSdl(createSchema(undefined, [layouts]));
    expect(buildSchema(sdl).getMutationType()?.getFields()).toHaveProperty('createLayouts');
    expect(printSdl(createSchema())).toBe(printSdl(createSchema(undefined, [])));
    expect(sdl).toContain('Token scope: `layouts:read`.');
    expect(sdl).toContain('@deprecated(reason: "Use archiveLayouts.")');
  });

  const query = (name: string, scope?: 'x:read') =>
    defineModule(name, ({ builder, requireScopes }) => {
      const extensions = scope === undefined ? {} : requireScopes(scope);
      builder.queryField(name, (t) => t.int({ nullable: true, extensions, resolve: () => 1 }));
    });
  const declares = (name: string, template: `GET /${string}`) =>
    defineModule(name, ({ endpoint: declare }) => void declare(template).returns<object>());

  const loads = (name: string, template: `GET /${string}`) =>
    defineModule(
      name,
      ({ endpoint: declare, loader }) => void loader({ name: 'thing', get: declare(template).returns<object>() }),
    );

  const declaresNothing = defineModule(
    'nothing',
    ({ declareCalls }) => void declareCalls('1', Object({ reason: 'A.' })),
  );

  const loadsNothing = defineModule('none', ({ loader }) => void loader(Object({ name: 'thing' })));

  const removes = defineModule('removes', ({ endpoint: declare, mutation }) => {
    mutation('remove', {
      description: 'Removes a thing.',
      scope: 'x:write',
      endpoint: declare('DELETE /v1/things/{id}', { expect: 'nothing' }),
      input: { description: 'The thing.', fields: (t) => ({ id: t.id({ required: true }) }) },
      resolve: ({ id }, send) => send({ id }).then(() => ({})),
      success: { description: 'It is removed.', fields: () => ({}) },
    });
  });

  const refers = (name: string, field: Parameters<Toolkit['builder']['queryField']>[1]) =>
    defineModule(name, ({ builder }) => builder.queryField(name, field));
  const shapes = (name: string, type = 'Shape') =>
    defineModule(name, ({ builder }) => {
      builder.objectRef<object>(type).implement({ fields: (t) => ({ code: t.int({ resolve: () => 4 }) }) });
    });

  it.each<[string, readonly GatewayModule[], RegExp]>([
    [
      'a root field without a scope',
      [query('a')],
      /^the field Query\.a requires no scope; in the module a, declare one/,
    ],
    ['the name of another module', [query('a', 'x:read'), query('a', 'x:read')], /two modules with the name a$/],
    ['the name of a built-in one', [query('feeds', 'x:read')], /two modules with the name feeds$/],
    [
      'a field that exists',
      [query('workflow', 'x:read')],
      /^the module workflow declares the field Query.workflow, which the module workflows has too; remove it from workflow, and use that one/,
    ],
    [
      'a type that no module declares',
      [
        query('a', 'x:read'),
        refers('b', (t) =>
          t.int({ description: 'N.', args: { a: t.arg({ type: Object('Nope') }) }, resolve: () => 1 }),
        ),
      ],
      /^the module b fails: .*Nope/,
    ],
    [
      'a type of another module',
      [shapes('a'), shapes('b')],
      /^the module b declares the type Shape, which the module a has too; remove it from b, and use/,
    ],
    [
      'code that fails while the schema is built',
      [query('a', 'x:read'), refers('b', () => Object(undefined).missing())],
      /^the module b fails: TypeError: .*missing/,
    ],
    [
      'a type without fields',
      [query('a', 'x:read'), removes],
      /^the module removes fails: the schema is invalid: Type RemoveSuccess must define one or more fields/,
    ],
    [
      'an endpoint of the contract',
      [declares('a', 'GET /v1/workflows/{x}')],
      /^the module a declares the endpoint GET \/v1\/workflows\/\{x\}, which is built in; remove it from a, and use the fields that call it/,
    ],
    [
      'an endpoint of another module',
      [declares('a', 'GET /v1/a/{b}'), declares('b', 'GET /v1/a/{c}')],
      /^the module b declares the endpoint GET \/v1\/a\/\{c\}, which the module a has too; remove it from b, and use the fields/,
    ],
    [
      'an endpoint of a shipped module after it',
      [declares('a', 'GET /v1/topics/{x}'), topics],
      /^the module a declares the endpoint .*, which the module notigraph\/modules\/topics has too; remove it from a,/,
    ],
    [
      'a type of a shipped module after it',
      [shapes('a', 'Topic'), topics],
      /^the module a declares the type Topic, which the module notigraph\/modules\/topics has too; remove it from a,/,
    ],
    ['a parameter with a reserved name', [declares('a', 'GET /v1/{body}')], /other than query, body/],
    [
      'two loaders of the same name',
      [loads('a', 'GET /v1/a/{id}'), loads('b', 'GET /v1/b/{id}')],
      /^the module b fails: there are two loaders named thing, in a and b/,
    ],
    [
      'a loader without a key in its path',
      [loads('a', 'GET /v1/a')],
      /^the module a fails: .* must have exactly one parameter/,
    ],
    [
      'a loader without a read',
      [loadsNothing],
      /^the module none fails: the loader thing needs get, or many with argsOf/,
    ],
    ['calls without an endpoint', [declaresNothing], /^the module nothing fails: .* needs a loader or an endpoint/],
    ['a loader with two', [loads('a', 'GET /v1/a/{b}/{c}')], /must have exactly one parameter/],
  ])('is refused with %s', (_, modules, message) => {
    const build = () => createSchema(undefined, modules);
    expect(build).toThrow(ModuleError);
    expect(build).toThrow(message);
  });
});

it('the code of a module can’t call another host, by an endpoint that it made itself or a redirect', async () => {
  await using elsewhere = await startService(() => ({ body: {} }));
  const { host } = new URL(elsewhere.url);
  const routes = [`//${host}/x`, `http://${host}/x`, `@${host}/x`, `/x\r\nhost: ${host}`];
  const things = endpoint('GET /v1/things').returns<object>();
  const calling = defineModule('calling', ({ builder, declareCalls, requireScopes }) => {
    builder.queryField('calls', (t) =>
      t.boolean({
        nullable: true,
        extensions: { ...requireScopes('x:read'), ...declareCalls('1') },
        resolve: async (_root, _args, ctx) => {
          await Promise.allSettled(routes.map((route) => ctx.upstream.read({ ...things, route }, {})));
          return true;
        },
      }),
    );
  });
  const redirect = { status: 307, headers: { location: `${elsewhere.url}/x` } };
  await using gateway = await start(() => redirect, { modules: [calling] });
  expect(await gateway.run('{ calls }')).toEqual({ calls: true });
  expect(elsewhere.connections()).toBe(0);
  for (const { headers } of gateway.service.requests) {
    expect(headers.host).toBe(new URL(gateway.service.url).host);
  }
});
