import { defineModule } from '../../src/modules/index.ts';

interface LayoutBody {
  _id: string;
  name: string;
}

/** Module with every kind of declaration: a page, a list, a loader with a call for several records, a cached read, a mutation and one in bulk. */
export const layouts = defineModule('layouts', (toolkit) => {
  const { builder, bulkMutation, declareCalls, endpoint, entity, loader, mutation, requireScopes } = toolkit;
  const listByIds = endpoint<{ query: { ids: string } }, LayoutBody[]>('GET /v1/layouts', { expect: 'list' });
  const get = endpoint<{ id: string }, LayoutBody>('GET /v1/layouts/{id}', {
    response: { types: ['object'], fields: { name: { types: ['string'] } }, required: ['name'] },
  });
  const countAll = endpoint<{ query: { kind: string } }, { count: number }>('GET /v1/layouts/count', {
    cached: {
      resource: 'layouts',
      windows: { freshSeconds: 60, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 },
    },
  });
  const create = endpoint<{ body: { name: string; content: string } }, LayoutBody>('POST /v1/layouts', {
    idempotent: true,
    multiline: ['content'],
    empties: ['layouts'],
  });
  const archive = endpoint<{ id: string }, LayoutBody>('DELETE /v1/layouts/{id}');
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
    description: 'A frame around the content of emails.',
    extensions: {
      ...requireScopes('layouts:read'),
      ...entity({ id: (id, { loaders }) => loaders.load(layout, id) }),
    },
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The layout's id." }),
      name: t.exposeString('name', { description: 'The name that people see.' }),
    }),
  });

  builder.queryFields((t) => ({
    layout: t.field({
      type: Layout,
      nullable: true,
      extensions: declareCalls('1 for the whole operation'),
      description: 'Returns a layout.\n\nREST: `GET /v1/layouts/{id}`.',
      args: { id: t.arg.id({ required: true, description: "The layout's id." }) },
      resolve: (_root, { id }, ctx) => ctx.loaders.load(layout, id),
    }),
    layoutCount: t.int({
      nullable: true,
      extensions: requireScopes('layouts:read'),
      description: 'Returns the number of layouts.\n\nREST: `GET /v1/layouts/count`.',
      resolve: async (_root, _args, ctx) => (await ctx.upstream.read(countAll, { query: { kind: 'a&b' } }))?.count,
    }),
  }));

  const creation = mutation('createLayout', {
    description: 'Creates a layout.',
    scope: 'layouts:write',
    endpoint: create,
    input: {
      description: 'The layout to create.',
      fields: (t) => ({
        name: t.string({ required: true, description: 'The name.' }),
        content: t.string({ required: true, description: 'The HTML.' }),
      }),
    },
    resolve: async ({ name, content }, send) => ({ layout: await send({ body: { name, content } }) }),
    success: {
      description: 'The layout was created.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout, description: 'The new layout.' }) }),
    },
  });

  bulkMutation('createLayouts', creation, {
    description: 'Creates up to 3 layouts.',
    items: 'layouts',
    max: 3,
    input: { description: 'The layouts to create.', items: 'The layouts.' },
    result: { item: 'The result for one.', results: 'The results.', succeeded: 'The created.', failed: 'The others.' },
  });

  mutation('archiveLayout', {
    description: 'Archives a layout.',
    scope: 'layouts:write',
    endpoint: archive,
    input: {
      description: 'The layout to archive.',
      fields: (t) => ({ layoutId: t.id({ required: true, description: "The layout's id." }) }),
    },
    failures: {
      notFound: { resource: 'Layout', id: ({ layoutId }) => layoutId },
      conflict: true,
      inputNames: { id: 'layoutId' },
    },
    resolve: async ({ layoutId }, send) => ({ layout: await send({ id: layoutId }) }),
    success: {
      description: 'The layout was archived.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout, description: 'The archived layout.' }) }),
    },
  });

  return { Layout };
});
