// Defines a module that uses everything a module can declare.

import { defineModule } from '../../src/modules/index.ts';

interface LayoutBody {
  _id: string;
  name: string;
  secret?: string;
}

/** Returns the options of a bulk mutation, whose descriptions no test reads. */
export const bulkOf = <Items extends string>(items: Items, max: number) => ({
  description: 'Changes several.',
  items,
  max,
  input: { description: 'They.', items: 'Them.' },
  result: { item: 'One.', results: 'All.', succeeded: 'The changed.', failed: 'The others.' },
});

/**
 * Module with every kind of declaration: a loader with a call for several records, a cached read, mutations that can be repeated or not and have keys or
 * not, two in bulk, an entity, a field that browsers see masked, and a deprecated one.
 */
export const layouts = defineModule('layouts', (toolkit) => {
  const { builder, bulkMutation, declareCalls, endpoint, entity, loader, mutation, requireScopes } = toolkit;
  const listByIds = endpoint('GET /v1/layouts', { expect: 'list' })
    .takes<{ query: { ids: string } }>()
    .returns<LayoutBody[]>();
  const get = endpoint('GET /v1/layouts/{id}', {
    response: { types: ['object'], fields: { name: { types: ['string'] } }, required: ['name'] },
  }).returns<LayoutBody>();
  const countAll = endpoint('GET /v1/layouts/count', {
    cached: {
      resource: 'layouts',
      windows: { freshSeconds: 60, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 },
    },
  })
    .takes<{ query: { kind: string } }>()
    .returns<{ count: number }>();
  const create = endpoint('POST /v1/layouts', {
    idempotent: true,
    multiline: ['content'],
    empties: ['layouts'],
  })
    .takes<{ body: { name: string; content: string } }>()
    .returns<LayoutBody>();
  const archive = endpoint('DELETE /v1/layouts/{id}').returns<LayoutBody>();
  const publish = endpoint('PUT /v1/layouts/{id}/published', { repeatable: true }).returns<LayoutBody>();
  const layout = loader<LayoutBody>({
    name: 'layout',
    get,
    many: {
      endpoint: listByIds,
      keyOf: ({ _id }) => _id,
      argsOf: (ids) => ({ query: { ids: ids.join(',') } }),
      max: 3,
    },
  });

  const Layout = builder.objectRef<LayoutBody>('Layout').implement({
    extensions: {
      ...requireScopes('layouts:read'),
      ...entity({ id: (id, { loaders }) => loaders.load(layout, id) }),
      ...declareCalls('1'),
    },
    fields: (t) => ({
      id: t.exposeID('_id'),
      name: t.exposeString('name'),
      secret: t.string({
        nullable: true,
        resolve: ({ secret }, _args, { identity }) => (identity.clientKind === 'browser' ? '[masked]' : secret),
      }),
    }),
  });

  builder.queryFields((t) => ({
    layout: t.field({
      type: Layout,
      nullable: true,
      extensions: declareCalls('1 for the whole operation'),
      args: { id: t.arg.id({ required: true }) },
      resolve: (_root, { id }, ctx) => ctx.loaders.load(layout, id),
    }),
    layoutCount: t.int({
      nullable: true,
      extensions: { ...requireScopes('layouts:read'), ...declareCalls('1') },
      resolve: async (_root, _args, ctx) => (await ctx.upstream.read(countAll, { query: { kind: 'a&b' } }))?.count,
    }),
  }));

  const creation = mutation('createLayout', {
    description: 'Creates a layout.',
    scope: 'layouts:write',
    endpoint: create,
    input: {
      description: 'The layout to create.',
      fields: (t) => ({ name: t.string({ required: true }), content: t.string({ required: true }) }),
    },
    resolve: async ({ name, content }, send) => ({ layout: await send({ body: { name, content } }) }),
    success: {
      description: 'The layout was created.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout }) }),
    },
  });

  bulkMutation('createLayouts', creation, bulkOf('layouts', 3));

  const archival = mutation('archiveLayout', {
    description: 'Archives a layout.',
    deprecationReason: 'Use archiveLayouts.',
    scope: 'layouts:write',
    endpoint: archive,
    input: { description: 'The layout to archive.', fields: (t) => ({ layoutId: t.id({ required: true }) }) },
    failures: { notFound: { resource: 'Layout', id: ({ layoutId }) => layoutId }, conflict: true },
    resolve: async ({ layoutId }, send) => ({ layout: await send({ id: layoutId }) }),
    success: {
      description: 'The layout was archived.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout }) }),
    },
  });

  bulkMutation('archiveLayouts', archival, bulkOf('layouts', 50));

  mutation('publishLayout', {
    description: 'Publishes a layout.',
    scope: 'layouts:write',
    endpoint: publish,
    input: { description: 'The layout to publish.', fields: (t) => ({ id: t.id({ required: true }) }) },
    resolve: async ({ id }, send) => ({ layout: await send({ id }) }),
    success: {
      description: 'The layout was published.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout }) }),
    },
  });

  return { Layout };
});
