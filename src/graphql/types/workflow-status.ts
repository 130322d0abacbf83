import { updateWorkflowStatus, type WorkflowBody } from '../../upstream/endpoints/workflows.ts';
import type { GatewayContext } from '../context.ts';
import { declareCalls, requireScopes } from '../declarations.ts';
import { defineModule } from '../module.ts';
import {
  asConflict,
  asInvalidInput,
  asNotFound,
  isRejectedInput,
  mutationErrors,
  toMutationResult,
} from '../mutations.ts';
import { workflows } from './workflow.ts';

/** The mutation that activates or deactivates a workflow. */
export const workflowStatus = defineModule('workflowStatus', ({ builder, use }) => {
  const { ConflictError, InvalidInputError, NotFoundError } = use(mutationErrors);
  const { Workflow } = use(workflows);

  const UpdateWorkflowStatusInput = builder.inputType('UpdateWorkflowStatusInput', {
    description: 'The workflow and its new status.',
    fields: (t) => ({
      workflowId: t.id({
        required: true,
        description: "The workflow's id. The service doesn't accept the trigger identifier here.",
      }),
      active: t.boolean({ required: true, description: 'Whether the workflow is to be active.' }),
    }),
  });

  const UpdateWorkflowStatusSuccess = builder
    .objectRef<{ __typename: 'UpdateWorkflowStatusSuccess'; workflow: WorkflowBody; changed: boolean }>(
      'UpdateWorkflowStatusSuccess',
    )
    .implement({
      description: 'The workflow has the requested status.',
      fields: (t) => ({
        workflow: t.expose('workflow', { type: Workflow, description: 'The workflow with its new status.' }),
        changed: t.exposeBoolean('changed', {
          description: 'Whether the status changed. False if the workflow already had it.',
        }),
      }),
    });

  const UpdateWorkflowStatusResult = builder.unionType('UpdateWorkflowStatusResult', {
    description: 'The result of `updateWorkflowStatus`.',
    types: [UpdateWorkflowStatusSuccess, NotFoundError, InvalidInputError, ConflictError],
  });

  builder.mutationFields((t) => ({
    updateWorkflowStatus: t.field({
      type: UpdateWorkflowStatusResult,
      nullable: true,
      extensions: {
        ...requireScopes('workflows:write'),
        ...declareCalls('1, or 2 if the service rejects it because nothing changes', {
          route: '/v1/workflows/{workflowIdOrIdentifier}',
          maxRecords: () => 1,
          reason: 'One if the service rejects the status, to find out whether the workflow already has it.',
        }),
      },
      description:
        'Activates or deactivates a workflow. If it already has that status, the result is a success with `changed: false`.\n\nREST: `PUT /v1/workflows/{workflowId}/status`.',
      args: {
        input: t.arg({
          type: UpdateWorkflowStatusInput,
          required: true,
          description: 'The workflow and its new status.',
        }),
      },
      resolve(_root, { input: { workflowId, active } }, ctx) {
        ctx.loaders.workflow.clearAll();
        return toMutationResult(
          setStatus(ctx, workflowId, active),
          (updated) => ({ __typename: 'UpdateWorkflowStatusSuccess' as const, ...updated }),
          asNotFound('Workflow', workflowId),
          asInvalidInput(),
          asConflict,
        );
      },
    }),
  }));
});

/** Sets the status of a workflow. Services reject (400) the status that it already has, so loads it to detect that case. */
async function setStatus(ctx: GatewayContext, workflowId: string, active: boolean) {
  try {
    const { body } = await updateWorkflowStatus(ctx.upstream, workflowId, active);
    return { workflow: { _id: workflowId, ...body }, changed: true };
  } catch (error) {
    const current = isRejectedInput(error) ? await ctx.loaders.workflow.load(workflowId).catch(() => null) : null;
    if (current?.active !== active) {
      throw error;
    }
    return { workflow: current, changed: false };
  }
}
