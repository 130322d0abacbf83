import { isRejectedInput } from '../../errors/field-errors.ts';
import { updateWorkflowStatus } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { workflows } from './workflow.ts';

/** The mutation that activates or deactivates a workflow. */
export const workflowStatus = defineModule('workflowStatus', ({ declareCalls, mutation, use }) => {
  const { Workflow, workflow } = use(workflows);

  mutation('updateWorkflowStatus', {
    description:
      'Activates or deactivates a workflow. If it already has that status, the result is a success with `changed: false`.',
    scope: 'workflows:write',
    endpoint: updateWorkflowStatus,
    extensions: declareCalls('1, or 2 if the service rejects it because nothing changes', {
      loader: workflow,
      reason: 'One if the service rejects the status, to find out whether the workflow already has it.',
    }),
    input: {
      description: 'The workflow and its new status.',
      fields: (t) => ({
        workflowId: t.id({
          required: true,
          description: "The workflow's id. The service doesn't accept the trigger identifier here.",
        }),
        active: t.boolean({ required: true, description: 'Whether the workflow is to be active.' }),
      }),
    },
    failures: { notFound: { resource: 'Workflow', id: ({ workflowId }) => workflowId }, conflict: true },
    // Services reject (400) the status that a workflow already has, so it is loaded to detect that case.
    async resolve({ workflowId, active }, send, { loaders }) {
      try {
        const updated = await send({ workflowId, body: { active } });
        return { workflow: { _id: workflowId, ...updated }, changed: true };
      } catch (error) {
        const current = isRejectedInput(error) ? await loaders.load(workflow, workflowId).catch(() => null) : null;
        if (current?.active !== active) {
          throw error;
        }
        return { workflow: current, changed: false };
      }
    },
    success: {
      description: 'The workflow has the requested status.',
      fields: (t) => ({
        workflow: t.expose('workflow', { type: Workflow, description: 'The workflow with its new status.' }),
        changed: t.exposeBoolean('changed', {
          description: 'Whether the status changed. False if the workflow already had it.',
        }),
      }),
    },
  });
});
