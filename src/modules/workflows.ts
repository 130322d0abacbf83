// Adds the list of workflows; the built-in schema only reads those with known ids or identifiers.

import { defineShipped } from '../graphql/module.ts';
import { workflows } from '../graphql/types/workflow.ts';
import { getWorkflow, type WorkflowBody } from '../upstream/endpoints.ts';

const MAX_PAGE = 100;

interface PageBody {
  page: number;
  totalCount: number;
  data: WorkflowBody[];
}

export default defineShipped('workflowPages', ({ assertRange, builder, endpoint, requireScopes, use }) => {
  const { Workflow } = use(workflows);

  const list = endpoint('GET /v1/workflows', {
    expect: 'page',
    identifiedBy: getWorkflow.identifiedBy,
    cached: { resource: 'workflows' }, // Emptied by the built-in writes that change a workflow or its group.
  })
    .takes<{ query: { page: number; limit: number; query: string | undefined } }>()
    .returns<PageBody>();

  const WorkflowPage = builder.objectRef<PageBody>('WorkflowPage').implement({
    description: 'A page of the list of workflows.',
    fields: (t) => ({
      workflows: t.expose('data', {
        type: [Workflow],
        nullable: { list: false, items: true },
        description: 'The workflows. If the service sends an invalid one, it is null and has an entry in `errors`.',
      }),
      page: t.exposeInt('page', { description: 'The number of the page, from 0.' }),
      totalCount: t.exposeInt('totalCount', { description: 'The number of workflows on all pages.' }),
    }),
  });

  builder.queryField('workflowPage', (t) =>
    t.field({
      type: WorkflowPage,
      nullable: true,
      extensions: requireScopes('workflows:read'),
      description:
        'Returns one page of all workflows, also of inactive ones and drafts, or of those that a search finds.\n\nREST: `GET /v1/workflows`.',
      args: {
        page: t.arg.int({ required: true, defaultValue: 0, description: 'The number of the page, from 0.' }),
        limit: t.arg.int({
          required: true,
          defaultValue: 10,
          description: `The maximum number of workflows, 1 to ${MAX_PAGE}.`,
        }),
        query: t.arg.string({
          description: 'Only workflows with this text in their name or identifier. Default: all workflows.',
        }),
      },
      resolve(_root, { page, limit, query }, ctx) {
        assertRange('page', page, 0, Number.MAX_SAFE_INTEGER);
        assertRange('limit', limit, 1, MAX_PAGE);
        return ctx.upstream.read(list, { query: { page, limit, query: query ?? undefined } });
      },
    }),
  );
});
