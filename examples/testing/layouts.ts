import { defineModule, workflows } from 'notigraph/modules';

interface LayoutBody {
  _id: string;
  name: string;
}

export default defineModule('layouts', (toolkit) => {
  const {
    ADDS_ONLY,
    builder,
    bulkMutation,
    declareCalls,
    endpoint,
    loadBySentId,
    loader,
    mutation,
    requireScopes,
    use,
  } = toolkit;

  const listLayouts = endpoint('GET /v1/layouts', { expect: 'list' }).returns<LayoutBody[]>();

  const Layout = builder.objectRef<LayoutBody>('Layout').implement({
    description: 'A frame of emails.',
    extensions: requireScopes('layouts:read'),
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The layout's id." }),
      name: t.exposeString('name', { description: "The layout's name." }),
    }),
  });

  builder.queryField('layouts', (t) =>
    t.field({
      type: [Layout],
      nullable: true,
      extensions: declareCalls('1'),
      description: 'Returns all layouts.\n\nREST: `GET /v1/layouts`.',
      resolve: (_root, _args, ctx) => ctx.upstream.read(listLayouts, {}),
    }),
  );

  const getLayout = endpoint('GET /v1/layouts/{id}').returns<LayoutBody>();

  const layout = loader<LayoutBody>({
    name: 'layout',
    get: getLayout,
    many: { endpoint: listLayouts, keyOf: ({ _id }) => _id }, // Two or more take one call.
  });

  builder.queryField('layout', (t) =>
    t.field({
      type: Layout,
      nullable: true,
      extensions: declareCalls('1 for the whole operation'),
      description: 'Returns a layout.\n\nREST: `GET /v1/layouts/{id}`.',
      args: { id: t.arg.id({ required: true, description: "The layout's id." }) },
      resolve: (_root, { id }, ctx) => ctx.loaders.load(layout, id),
    }),
  );

  builder.objectField(use(workflows).Workflow, 'layout', (t) =>
    t.field({
      type: Layout,
      nullable: true,
      extensions: declareCalls('1 for the whole operation', { loader: layout, max: 1, reason: 'Each has another.' }),
      description: "The layout with the workflow's id.",
      resolve: ({ _id }, _args, ctx) => loadBySentId(_id, (id) => ctx.loaders.load(layout, id)),
    }),
  );

  const createLayout = endpoint('POST /v1/layouts', { idempotent: true })
    .takes<{ body: { name: string } }>()
    .returns<LayoutBody>();

  const creation = mutation('createLayout', {
    description: 'Creates a layout.',
    scope: 'layouts:write',
    endpoint: createLayout,
    extensions: ADDS_ONLY,
    input: {
      description: 'The layout to create.',
      fields: (t) => ({
        name: t.string({ required: true, description: "The layout's name." }),
      }),
    },
    resolve: async (body, send) => ({ layout: await send({ body }) }),
    success: {
      description: 'The layout was created.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout, description: 'The new layout.' }) }),
    },
  });

  bulkMutation('createLayouts', creation, {
    description: 'Creates up to 50 layouts.',
    items: 'layouts',
    max: 50,
    input: { description: 'The layouts to create.', items: 'The layouts.' },
    result: { item: 'One result.', results: 'The results.', succeeded: 'The created.', failed: 'The others.' },
  });

  const deleteLayout = endpoint('DELETE /v1/layouts/{id}', { expect: 'nothing' });

  mutation('deleteLayout', {
    description: 'Deletes a layout.',
    scope: 'layouts:write',
    endpoint: deleteLayout,
    input: {
      description: 'The layout to delete.',
      fields: (t) => ({ id: t.id({ required: true, description: "The layout's id." }) }),
    },
    failures: { notFound: { resource: 'Layout', id: ({ id }) => id }, conflict: true },
    resolve: async ({ id }, send) => {
      await send({ id });
      return { id };
    },
    success: {
      description: 'The layout was deleted.',
      fields: (t) => ({ deletedId: t.exposeID('id', { description: "The layout's id." }) }),
    },
  });
});
