// Programs of users of the package, as texts.

/** Program that loads the package with `require`, and has a plugin with classes of its own copy of graphql. */
export const PLUGIN_PROGRAM = `
  const { GraphQLError, GraphQLSchema } = require('graphql');
  const { createGateway } = require('notigraph');

  function onExecute({ args }) {
    throw new GraphQLError('stopped', { extensions: { code: args.schema instanceof GraphQLSchema ? 'SAME' : 'OTHER' } });
  }
  const gateway = createGateway({ upstream: 'http://127.0.0.1:9', plugins: [{ onExecute }] });
  const url = 'https://example.com/graphql?query={notificationGroups{name}}';

  async function main() {
    const imported = await import('notigraph');
    console.log(Object.keys(require('notigraph')), imported.createGateway === createGateway);
    const response = await gateway.fetch(new Request(url, { headers: { authorization: 'ApiKey any' } }));
    const { errors } = await response.json();
    console.log(errors[0].message, errors[0].extensions.code);
    await gateway.dispose();
  }
  main();
`;

export const TYPED_PROGRAM = `
  import { createServer } from 'node:http';
  import { createGateway, type Gateway, type GatewayDeps, type GatewayOptions } from 'notigraph';

  const options: GatewayOptions = { upstream: new URL('https://example.com'), graphiql: { authorization: 'ApiKey k' } };
  const deps: GatewayDeps = { now: () => new Date() };
  await using gateway: Gateway = createGateway(options, deps);
  createServer(gateway.listener);
  const response: Response = await gateway.fetch(new Request('https://example.com/graphql'));
  const problem: string | undefined = await gateway.checkUpstream();
  console.log(response.status, problem, gateway.endpoint.length);

  // @ts-expect-error The upstream is required.
  createGateway({});
  createGateway(options, { logger: console });
  // @ts-expect-error The logger must have the methods.
  createGateway(options, { logger: console.log });
  // @ts-expect-error The type is not exported.
  type Withheld = import('notigraph').Config;
`;

export const CLIENT_PROGRAM = `
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';

  const { request } = createClient({ url: process.argv[2], authorization: 'ApiKey sandbox-development-key' });
  const { data, errors } = await request(NotificationGroupsDocument);
  console.log(JSON.stringify(data.notificationGroups.map(({ name }) => name)), errors);
`;

export const TYPED_CLIENT_PROGRAM = `
  import type { DocumentNode } from 'graphql';
  import {
    type Channel,
    createClient,
    type OperationResult,
    possibleTypes,
    type TypedDocument,
    UnexpectedResponseError,
    WorkflowDocument,
    type WorkflowResult,
    type WorkflowVariables,
  } from 'notigraph/client';

  const notigraph = createClient({ url: '/graphql', authorization: () => 'Bearer token', send: 'id' });
  const typed: TypedDocument<WorkflowResult, WorkflowVariables> & DocumentNode = WorkflowDocument;
  const answer: OperationResult<WorkflowResult> = await notigraph.request(typed, { idOrIdentifier: 'a' });
  const name: string | undefined = answer.data?.workflow?.name;
  const channel: Channel = 'EMAIL';
  console.log(name, channel, answer.errors?.[0]?.extensions.code, possibleTypes, UnexpectedResponseError.name);

  // @ts-expect-error A required variable is missing.
  await notigraph.request(WorkflowDocument, {});
  // @ts-expect-error The variable has the wrong type.
  await notigraph.request(WorkflowDocument, { idOrIdentifier: true });
  // @ts-expect-error The operation does not select the field.
  answer.data?.workflow?.payloadSchema;
`;

/** Mocks an operation with `notigraph/testing/msw`; compiles as TypeScript too. */
export const MOCKS_PROGRAM = `
  import { setupServer } from 'msw/node';
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';
  import { gatewayError, mocks } from 'notigraph/testing/msw';

  const server = setupServer(mocks.NotificationGroups(() => ({ errors: [gatewayError('OVERLOADED')] })));
  server.listen();
  const notigraph = createClient({ url: 'http://mocked.example.com/graphql', retries: false });
  const { errors, status } = await notigraph.request(NotificationGroupsDocument);
  console.log(status, errors?.[0]?.extensions.code);
  server.close();
`;

/** Program that tests against a gateway in memory. node:sqlite is only loaded by `notigraph/testing`. */
export const TESTING_PROGRAM = `
  import { createGateway } from 'notigraph';
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';

  const hasSqlite = () => process.moduleLoadList.some((name) => name.endsWith(' sqlite'));
  await createGateway({ upstream: 'http://127.0.0.1:9' }).dispose();
  const before = hasSqlite();
  const { createTestGateway, SANDBOX_KEYS } = await import('notigraph/testing');
  await using gateway = await createTestGateway({ records: { notificationGroups: ['Billing'] } });
  const { data } = await gateway.client.request(NotificationGroupsDocument);
  gateway.fail('GET /v1/notification-groups', 'timeout');
  const { errors } = await gateway.client.request(NotificationGroupsDocument);
  console.log(before, hasSqlite(), data.notificationGroups[0].name, errors[0].extensions.code, gateway.calls.length);
  console.log(gateway.key === SANDBOX_KEYS.development, typeof createClient);
`;

export const TYPED_TESTING_PROGRAM = `
  import { WorkflowDocument } from 'notigraph/client';
  import { createTestGateway, type Records, type TestGateway, type UpstreamCall } from 'notigraph/testing';

  const records: Records = { workflows: [{ identifier: 'a', steps: [{ type: 'email' }] }] };
  const gateway: TestGateway = await createTestGateway({ records, cache: true, now: new Date() });
  const { data } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'a' });
  const name: string | undefined = data?.workflow?.name;
  const response: Response = await gateway.fetch(gateway.url, { method: 'POST' });
  const calls: readonly UpstreamCall[] = gateway.calls;
  gateway.fail('GET /v1/workflows/{id}', 503, { times: 1, params: { id: 'a' } }).recover();
  gateway.clock.advance({ seconds: 1 });
  console.log(name, response.status, calls[0]?.endpoint === 'GET /v1/notification-groups');

  // @ts-expect-error The route does not exist.
  gateway.fail('GET /v1/workflow/{id}', 503);
  // @ts-expect-error The service is in memory.
  await createTestGateway({ upstream: 'https://example.com' });
  // @ts-expect-error The record has no such field.
  gateway.seed({ workflows: [{ identifier: 'a', nmae: 'A' }] });
`;

export const MODULES_PROGRAM = `
  import { createGateway } from 'notigraph';
  import { defineModule, workflows } from 'notigraph/modules';
  import events from 'notigraph/modules/events';

  const own = defineModule('own', ({ builder, declareCalls, use }) => {
    const { Workflow } = use(workflows);
    builder.queryField('latest', (t) => t.field({ type: Workflow, nullable: true, extensions: declareCalls('1'), description: 'None.', resolve: () => null }));
  });
  await using gateway = createGateway({ upstream: 'http://127.0.0.1:1', modules: [own, events] });
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'ApiKey a' },
      body: JSON.stringify({ query: '{ latest { name } __type(name: "TriggeredEvent") { name } }' }),
    }),
  );
  console.log(await response.text());
`;

/** Module of a package of its own, compiled with declarations. It returns one of everything that others refer to. */
export const PUBLISHED_MODULE = `
  import { defineModule, feeds, messages, notificationGroups, stats, subscribers, workflows } from 'notigraph/modules';
  import events from 'notigraph/modules/events';
  import profiles from 'notigraph/modules/subscribers';
  import topics from 'notigraph/modules/topics';
  import pages from 'notigraph/modules/workflows';

  interface BadgeBody {
    _id: string;
    note?: string;
  }

  export default defineModule('badges', ({ builder, endpoint, loader, mutation, requireScopes, scalar, use }) => {
    const list = endpoint('GET /v1/badges', { expect: 'page' })
      .takes<{ query: { page?: number; ids?: readonly string[] } }>()
      .returns<{ data: BadgeBody[]; hasMore: boolean }>();
    const create = endpoint('POST /v1/badges').takes<{ body: { note?: string } }>().returns<BadgeBody>();
    const badge = loader<BadgeBody>({
      name: 'badge',
      many: { endpoint: list, keyOf: ({ _id }) => _id, argsOf: (ids) => ({ query: { ids } }) },
    });
    const Badge = builder.objectRef<BadgeBody>('Badge').implement({
      extensions: requireScopes('badges:read'),
      fields: (t) => ({ note: t.exposeString('note', { nullable: true }) }),
    });
    const Kind = builder.enumType('BadgeKind', { values: ['A', 'B'] as const });
    const BadgeInput = builder.inputType('BadgeInput', { fields: (t) => ({ note: t.string() }) });
    const Cents = scalar('Cents', { parseValue: Number, serialize: (value: number) => value });
    builder.queryField('badges', (t) =>
      t.field({
        type: [Badge],
        nullable: true,
        args: { page: t.arg.int() },
        resolve: async (_root, args, ctx) => (await ctx.upstream.read(list, { query: args }))?.data,
      }),
    );
    const creation = mutation('createBadge', {
      description: 'Creates a badge.',
      scope: 'badges:write',
      endpoint: create,
      input: { description: 'The badge.', fields: (t) => ({ note: t.string() }) },
      resolve: async (body, send) => ({ badge: await send({ body }) }),
      success: { description: 'Done.', fields: (t) => ({ badge: t.expose('badge', { type: Badge }) }) },
    });
    const { NotificationGroup, notificationGroup } = use(notificationGroups);
    const { Workflow, workflow } = use(workflows);
    const { Subscriber } = use(subscribers);
    const { subscriber } = use(profiles);
    return {
      ...{ Badge, BadgeInput, Cents, Kind, badge, create, creation, list },
      ...{ NotificationGroup, Subscriber, Workflow, notificationGroup, subscriber, workflow },
      ...use(topics),
      ...use(events),
      ...use(pages),
      ...use(feeds),
      ...use(messages),
      ...use(stats),
    };
  });
`;

/** Module that uses the published one. */
export const PUBLISHED_MODULE_USER = `
  import { createGateway } from 'notigraph';
  import { defineModule } from 'notigraph/modules';
  import badges from './published/badges.js';

  const own = defineModule('own', ({ builder, use }) => {
    const { Badge, Topic, badge } = use(badges);
    builder.objectField(Topic, 'badge', (t) =>
      t.field({ type: Badge, nullable: true, resolve: ({ key }, _args, ctx) => ctx.loaders.load(badge, key) }),
    );
    // @ts-expect-error The record has no such member.
    builder.objectField(Badge, 'other', (t) => t.string({ resolve: ({ other }) => other }));
  });
  createGateway({ upstream: 'https://example.com', modules: [own] });
`;

export const TYPED_MODULES_PROGRAM = `
  import { createGateway } from 'notigraph';
  import { defineModule, workflows } from 'notigraph/modules';
  import topics from 'notigraph/modules/topics';
  import workflowPages from 'notigraph/modules/workflows';

  const own = defineModule('own', ({ builder, endpoint, mutation, requireScopes, use }) => {
    const { Workflow } = use(workflows);
    const list = endpoint('GET /v1/things', { expect: 'list' }).returns<{ name: string }[]>();
    const create = endpoint('POST /v1/things', { idempotent: true }).takes<{ body: { name: string } }>().returns<{ name: string }>();
    builder.queryField('things', (t) =>
      t.stringList({
        nullable: true,
        extensions: requireScopes('things:read'),
        resolve: async (_root, _args, ctx) => (await ctx.upstream.read(list, {}))?.map(({ name }) => name),
      }),
    );
    builder.queryField('latest', (t) => t.field({ type: Workflow, nullable: true, resolve: () => null }));
    mutation('createThing', {
      description: 'Creates a thing.',
      scope: 'things:write',
      endpoint: create,
      input: { description: 'The thing.', fields: (t) => ({ name: t.string({ required: true }) }) },
      resolve: async ({ name }, send) => ({ made: (await send({ body: { name } })).name }),
      success: { description: 'It was created.', fields: (t) => ({ made: t.exposeString('made') }) },
    });
    // @ts-expect-error The endpoint needs a body.
    builder.queryField('wrong', (t) => t.int({ resolve: (_root, _args, ctx) => ctx.upstream.write(create, {}) }));
    // @ts-expect-error A write is not a read.
    builder.queryField('other', (t) => t.int({ resolve: (_root, _args, ctx) => ctx.upstream.read(create, { body: { name: '' } }) }));
  });
  createGateway({ upstream: 'https://example.com', modules: [own, topics, workflowPages] });
`;
