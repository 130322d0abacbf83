import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { expect, it } from 'vitest';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { defineModule, workflows } from '../../src/modules/index.ts';
import { startGateway, type TestDeps } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { bulkOf } from './example.ts';

guards('src/graphql/loaders.ts', 'openContext.current');
guards('src/graphql/loaders.ts', 'runWith');

// All functions of a module get the operation's context, though what they may call, and whose calls are counted or explained, differs by field.

/** Names of the functions that ran, and the contexts that they got. */
let ran = new Set<string>();
let contexts = new Set<GatewayContext>();
/** Times that Pothos's cache by context was filled. */
let filled = 0;

const numberOf = createContextCache(() => {
  filled += 1;
  return filled;
});

/** Notes the context that a function got. Its number is the same for all of an operation. */
function note(name: string, ctx: unknown): number {
  ran.add(name);
  contexts.add(ctx as GatewayContext);
  return numberOf(ctx as GatewayContext);
}

interface ItemBody {
  _id: string;
}

const items = defineModule('items', (toolkit) => {
  const { builder, bulkMutation, declareCalls, endpoint, entity, loader, mutation, requireScopes, use } = toolkit;
  const { Workflow } = use(workflows);
  const getItem = endpoint('GET /v1/items/{id}').returns<ItemBody>();
  const create = endpoint('POST /v1/items', { idempotent: true }).takes<{ body: ItemBody }>().returns<ItemBody>();
  const item = loader<ItemBody>({ name: 'item', get: getItem });

  const Box = builder.objectRef<ItemBody>('Box').implement({
    extensions: requireScopes('items:read'),
    isTypeOf: (_item, ctx) => note('isTypeOf', ctx) > 0,
    fields: (t) => ({ id: t.exposeID('_id') }),
  });
  const Thing = builder.unionType('Thing', {
    types: [Box],
    resolveType: (_item, ctx) => (note('resolveType', ctx) > 0 ? 'Box' : undefined),
  });
  const Item = builder.objectRef<ItemBody>('Item').implement({
    extensions: {
      ...requireScopes('items:read'),
      ...entity({ id: async (id, ctx) => (note('entity', ctx) > 0 ? { _id: id } : null) }),
    },
    fields: (t) => ({
      plain: t.int({ resolve: (_item, _args, ctx) => note('plain', ctx) }),
      next: t.int({
        nullable: true,
        extensions: declareCalls('1', { loader: item, reason: 'One per item.' }),
        async resolve({ _id }, _args, ctx) {
          await ctx.loaders.load(item, `after-${_id}`);
          return note('next', ctx);
        },
      }),
      thing: t.field({ type: Thing, resolve: (each) => each }),
    }),
  });
  builder.objectField(Workflow, 'unscoped', (t) =>
    t.int({ resolve: (_workflow, _args, ctx) => note('unscoped', ctx) }),
  );
  builder.queryFields((t) => ({
    item: t.field({
      type: Item,
      nullable: true,
      extensions: declareCalls('1'),
      async resolve(_root, _args, ctx) {
        note('item', ctx);
        const found = await ctx.upstream.read(getItem, { id: 'i1' });
        note('item later', ctx);
        return found;
      },
    }),
    items: t.field({
      type: [Item],
      resolve: (_root, _args, ctx) => (note('items', ctx) > 0 ? [{ _id: 'a' }, { _id: 'b' }] : []),
    }),
  }));
  builder.mutationField('addBare', (t) =>
    t.int({
      nullable: true,
      extensions: { ...requireScopes('items:write'), ...declareCalls('1') },
      async resolve(_root, _args, ctx) {
        await ctx.upstream.write(create, { body: { _id: 'bare' } });
        return note('addBare', ctx);
      },
    }),
  );
  const add = mutation('addItem', {
    description: 'Adds an item.',
    scope: 'items:write',
    endpoint: create,
    input: { description: 'It.', fields: (t) => ({ id: t.id({ required: true }) }) },
    async resolve({ id }, send, ctx) {
      note('addItem', ctx);
      return { item: await send({ body: { _id: id } }) };
    },
    success: {
      description: 'It is added.',
      fields: (t) => ({ item: t.field({ type: Item, resolve: (s) => s.item }) }),
    },
  });
  bulkMutation('addItems', add, bulkOf('items', 5));
});

const ITEM = '{ plain next thing { ... on Box { id } } }';
const QUERY = `{ item ${ITEM} items ${ITEM} other: item ${ITEM} workflow(idOrIdentifier: "w1") { unscoped }
  _entities(representations: [{ __typename: "Item", id: "a" }, { __typename: "Item", id: "b" }]) { ... on Item ${ITEM} } }`;
const MUTATION = `mutation { addBare addItem(input: { id: "a" }) { ... on AddItemSuccess { item ${ITEM} } }
  addItems(input: { items: [{ id: "b" }, { id: "c" }] }) { results { ... on AddItemSuccess { item ${ITEM} } } } }`;

const QUERIED = ['entity', 'isTypeOf', 'item', 'item later', 'items', 'next', 'plain', 'resolveType', 'unscoped'];
const MUTATED = ['addBare', 'addItem', 'isTypeOf', 'next', 'plain', 'resolveType'];
const EXPLAINED: [string[], string[]] = [QUERIED.filter((name) => name !== 'unscoped'), ['addItem']];

const service: Script = ({ method, path, body }) => {
  const [, , noun, id] = path.split('/');
  const record = noun === 'workflows' ? workflow() : { _id: method === 'POST' ? JSON.parse(body)._id : id };
  return { body: { data: noun === 'notification-groups' ? [] : record } };
};

it.each<[string, TestDeps, Record<string, unknown>, [string[], string[]]?]>([
  ['in production', {}, {}],
  ['in development', { onUndeclaredCall: expect.unreachable }, {}],
  ['with the report of the cost', {}, { upstream: true }],
  ['with that report in development', { onUndeclaredCall: expect.unreachable }, { upstream: true }],
  ['in explanations', {}, { explain: true }, EXPLAINED],
  ['in explanations in development', { onUndeclaredCall: expect.unreachable }, { explain: true }, EXPLAINED],
])('%s, an operation has one context, and Pothos one cache', async (_, deps, extensions, expected) => {
  await using gateway = await startGateway({ service, modules: [items], federation: true }, deps);
  await gateway.run('{ notificationGroups { name } }'); // Explanations of fields without a call need an accepted key.
  const [queried = QUERIED, mutated = MUTATED] = expected ?? [];
  for (const [document, names] of [
    [QUERY, queried],
    [MUTATION, mutated],
  ] as const) {
    [ran, contexts, filled] = [new Set(), new Set(), 0];
    const { codes } = await gateway.send(document, {}, { authorization: 'ApiKey a', extensions });
    expect(codes).toEqual([]);
    expect([...ran].toSorted()).toEqual(names);
    expect([contexts.size, filled]).toEqual([1, 1]);
  }
});

it('a field that may make no calls can ask another gateway in the process, whose fields may', async () => {
  await using inner = await createTestGateway({
    modules: [items],
    endpoints: { 'GET /v1/items/{id}': () => ({ body: { data: { _id: 'i1' } } }) },
  });
  const asking = defineModule('asking', ({ builder, use }) => {
    builder.objectField(use(workflows).Workflow, 'inner', (t) =>
      t.string({
        nullable: true,
        resolve: async () =>
          JSON.stringify((await inner.client.request('{ item { plain } other: item { next } }')).data),
      }),
    );
  });
  await using outer = await startGateway({ service, modules: [asking] });
  expect(await outer.run('{ workflow(idOrIdentifier: "w1") { inner } }')).toEqual({
    workflow: { inner: expect.stringMatching(/^\{"item":\{"plain":\d+\},"other":\{"next":\d+\}\}$/) },
  });
});

it.each<[string, max: number, problems: RegExp[]]>([
  ['and declares it', 1, []],
  [
    'and declares too few',
    0,
    [/^Part\.next calls GET \/v1\/items\/\{id\}, which explanations list only if it is declared/],
  ],
])('a loader by context makes the calls of all values of a field %s', async (_, max, problems) => {
  const parts = defineModule('parts', ({ builder, declareCalls, endpoint, requireScopes }) => {
    const getItem = endpoint('GET /v1/items/{id}').returns<ItemBody>();
    const nextOf = createContextCache(
      (ctx: GatewayContext) =>
        new DataLoader((ids: readonly string[]) => Promise.all(ids.map((id) => ctx.upstream.read(getItem, { id })))),
    );
    const Part = builder.objectRef<ItemBody>('Part').implement({
      extensions: requireScopes('parts:read'),
      fields: (t) => ({
        next: t.id({
          nullable: true,
          extensions: declareCalls('1', { endpoint: getItem, max, reason: 'One per part.' }),
          resolve: async ({ _id }, _args, ctx) => (await nextOf(ctx).load(_id))?._id ?? null,
        }),
      }),
    });
    builder.queryField('parts', (t) =>
      t.field({ type: [Part], resolve: () => ['a', 'b', 'c'].map((_id) => ({ _id })) }),
    );
  });
  const undeclared: string[] = [];
  const onUndeclaredCall = (problem: string) => void undeclared.push(problem);
  await using gateway = await startGateway({ service, modules: [parts] }, { onUndeclaredCall });
  expect(await gateway.run('{ parts { next } }')).toEqual({ parts: ['a', 'b', 'c'].map((next) => ({ next })) });
  expect(undeclared).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});
