// Adds the list of workflows; the built-in schema only reads those with known ids or identifiers.

import { requireValue } from '../../graphql/values.ts';
import { getWorkflow, type StepBody, type WorkflowBody } from '../../upstream/endpoints.ts';
import { defineShipped } from '../module.ts';
import { assertPage, definePage, type PageBody, pageArg, sizeArg } from '../types/pages.ts';
import { idField, listField, optional, shows } from '../types/record-fields.ts';
import { idOf, workflows } from '../types/workflow.ts';
import { workflowSteps } from '../types/workflow-step.ts';

const MAX_PAGE = 100;

export default defineShipped('notigraph/modules/workflows', (toolkit) => {
  const { builder, declareCalls, endpoint, loadBySentId, requireScopes, use } = toolkit;
  const { Workflow, workflow, workflowFields } = use(workflows);
  const { stepFields } = use(workflowSteps);

  const list = endpoint('GET /v1/workflows', {
    expect: 'page',
    identifiedBy: getWorkflow.identifiedBy,
    cached: { resource: 'workflows' }, // Emptied by the built-in writes that change a workflow or its group.
  })
    .takes<{ query: { page: number; limit: number; query?: string } }>()
    .returns<PageBody<WorkflowBody>>();

  // The ids have other names than those of `Workflow`: a client's store must not merge a record of the list with the complete one.
  const WorkflowStepSummary = builder.objectRef<StepBody>('WorkflowStepSummary').implement({
    description: 'A step of a workflow as the list has it: its kind, but not the content to send.',
    fields: (t) => ({
      stepId: idField(t, 'step'),
      ...stepFields(t),
      type: t.string({
        extensions: shows('template'),
        ...optional('The channel or kind of the step, such as `email`, `in_app` or `digest`.'),
        resolve: ({ template }) => template?.type,
      }),
    }),
  });

  const WorkflowSummary = builder.objectRef<WorkflowBody>('WorkflowSummary').implement({
    description: 'A workflow as the list has it: without the content of its steps. `workflow` is the complete one.',
    extensions: requireScopes('workflows:read'),
    fields: (t) => ({
      workflowId: t.id({
        extensions: shows('_id', 'id'),
        description: 'The id of the workflow.',
        resolve: (summary) => requireValue(idOf(summary)),
      }),
      ...workflowFields(t),
      steps: listField(t, 'steps', WorkflowStepSummary, 'The steps without content, in the order in which they run.'),
      workflow: t.field({
        type: Workflow,
        nullable: true,
        extensions: declareCalls('1 per workflow, 8 at a time', { loader: workflow, reason: 'One per workflow.' }),
        description:
          'The complete workflow. Null if it has been deleted meanwhile.\n\nREST: `GET /v1/workflows/{workflowIdOrIdentifier}` per workflow.',
        resolve: (summary, _args, { loaders }) => loadBySentId(idOf(summary), (id) => loaders.load(workflow, id)),
      }),
    }),
  });

  const WorkflowPage = definePage(builder, 'WorkflowPage', 'workflows', WorkflowSummary, 'totalCount');

  builder.queryField('workflowPage', (t) =>
    t.field({
      type: WorkflowPage,
      nullable: true,
      extensions: { ...requireScopes('workflows:read'), ...declareCalls('1') },
      description:
        'Returns one page of the workflows, also of inactive ones and drafts, or of those that a search finds. Since late 2024, the list of the service leaves out workflows made in its new dashboard, which `workflow` and `workflows` return.\n\nREST: `GET /v1/workflows`.',
      args: {
        page: pageArg(t.arg),
        limit: sizeArg(t.arg, 'workflows', MAX_PAGE),
        query: t.arg.string({
          description: 'Only workflows with this text in their name or identifier. Default: all workflows.',
        }),
      },
      resolve(_root, { page, limit, query }, ctx) {
        assertPage({ page, limit }, MAX_PAGE);
        return ctx.upstream.read(list, { query: { page, limit, query } });
      },
    }),
  );

  return { WorkflowSummary };
});
