import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Workflow as the service returns it. */
export type WorkflowBody = components['schemas']['Workflow'];
/** Step of a workflow as the service returns it. */
export type StepBody = components['schemas']['Step'];
/** Template of a step as the service returns it. */
export type StepTemplateBody = components['schemas']['StepTemplate'];
/** Trigger of a workflow as the service returns it. */
export type TriggerBody = components['schemas']['Trigger'];

/** Returns a workflow by id or trigger identifier; null if it doesn't exist. */
export const getWorkflow = (client: UpstreamClient, idOrIdentifier: string) =>
  client.read<WorkflowBody>({
    route: '/v1/workflows/{workflowIdOrIdentifier}',
    params: { workflowIdOrIdentifier: idOrIdentifier },
    expect: 'record',
  });

/** Activates or deactivates a workflow by id. Some services reject this with 400 if the workflow is already in that state. */
export const updateWorkflowStatus = (client: UpstreamClient, workflowId: string, active: boolean) =>
  client.write<WorkflowBody>({
    method: 'PUT',
    route: '/v1/workflows/{workflowId}/status',
    params: { workflowId },
    body: { active },
    expect: 'record',
  });
