// Adds layouts of emails.

import { defineModule, workflows } from 'notigraph/modules';

interface LayoutBody {
  _id: string;
  name: string;
  _workflowId?: string | null;
}

interface LayoutPageBody {
  data: LayoutBody[];
  hasMore: boolean;
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

  const listLayouts = endpoint('GET /v1/layouts', { expect: 'page' })
    .takes<{ query: { page?: number; name?: string; ids?: readonly string[] } }>()
    .returns<LayoutPageBody>();

  const Layout = builder.objectRef<LayoutBody>('Layout').implement({
    description: 'A frame of emails.',
    extensions: requireScopes('layouts:read'),
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The layout's id." }),
      name: t.exposeString('name', { description: "The layout's name." }),
    }),
  });

  const LayoutPage = builder.objectRef<LayoutPageBody>('LayoutPage').implement({
    description: 'A page of the list of layouts.',
    fields: (t) => ({
      layouts: t.expose('data', {
        type: [Layout],
        nullable: { list: false, items: true },
        description: 'The layouts. An invalid one is null, with an entry in `errors`.',
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there is a next page.' }),
    }),
  });

  builder.queryField('layouts', (t) =>
    t.field({
      type: LayoutPage,
      nullable: true,
      extensions: { ...requireScopes('layouts:read'), ...declareCalls('1') },
      description: 'Returns one page of the layouts.\n\nREST: `GET /v1/layouts`.',
      args: {
        page: t.arg.int({ description: 'The page, from 0. Default: 0.' }),
        name: t.arg.string({ description: 'Only layouts with this name. Default: all.' }),
      },
      resolve: (_root, args, ctx) => ctx.upstream.read(listLayouts, { query: args }),
    }),
  );

  const getLayout = endpoint('GET /v1/layouts/{id}').returns<LayoutBody>();

  const layout = loader<LayoutBody>({
    name: 'layout',
    get: getLayout,
    many: { endpoint: listLayouts, keyOf: ({ _id }) => _id, argsOf: (ids) => ({ query: { ids } }) }, // For two or more.
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

  const { Workflow, workflow } = use(workflows);

  builder.objectField(Layout, 'workflow', (t) =>
    t.field({
      type: Workflow,
      nullable: true,
      extensions: declareCalls('1 per workflow, 8 at a time', { loader: workflow, reason: 'One per workflow.' }),
      description: 'The workflow that uses the layout, or null.',
      resolve: ({ _workflowId }, _args, ctx) => loadBySentId(_workflowId, (id) => ctx.loaders.load(workflow, id)),
    }),
  );

  builder.objectField(Workflow, 'layout', (t) =>
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
