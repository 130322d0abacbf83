// Adds layouts, and their query and mutation.

import { createLayout, type LayoutBody, listLayouts } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';

export const layouts = defineModule('layouts', ({ builder, declareCalls, mutation, requireScopes }) => {
  const Layout = builder.objectRef<LayoutBody>('Layout').implement({
    description: 'A list of subscribers that receive the same notifications.',
    extensions: requireScopes('layouts:read'),
    fields: (t) => ({
      id: t.exposeID('_id', { description: "The service's id." }),
      name: t.exposeString('name', { description: 'The name shown to people.' }),
    }),
  });

  builder.queryFields((t) => ({
    layouts: t.field({
      type: [Layout],
      nullable: true,
      extensions: declareCalls('1'),
      description: 'All layouts.\n\nREST: `GET /v1/layouts`.',
      resolve: (_root, _args, ctx) => ctx.upstream.read(listLayouts, {}),
    }),
  }));

  mutation('createLayout', {
    description: 'Creates a layout.',
    scope: 'layouts:write',
    endpoint: createLayout,
    input: {
      description: 'The layout to create.',
      fields: (t) => ({ name: t.string({ required: true, description: 'A name that no other layout has.' }) }),
    },
    resolve: async ({ name }, send) => ({ layout: await send({ body: { name } }) }),
    success: {
      description: 'The layout is created.',
      fields: (t) => ({ layout: t.expose('layout', { type: Layout, description: 'The new layout.' }) }),
    },
  });
});
