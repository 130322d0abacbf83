import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type WorkflowBody = components['schemas']['Workflow'];
export type StepBody = components['schemas']['Step'];
export type StepTemplateBody = components['schemas']['StepTemplate'];
export type TriggerBody = components['schemas']['Trigger'];

/** By id or by trigger identifier; null: there is none. */
export const getWorkflow = (client: UpstreamClient, idOrIdentifier: string) =>
  client.read<WorkflowBody>({
    route: '/v1/workflows/{workflowIdOrIdentifier}',
    params: { workflowIdOrIdentifier: idOrIdentifier },
    expect: 'record',
  });

/** By id only. A service may refuse (400) when the workflow already is in that state. */
export const updateWorkflowStatus = (client: UpstreamClient, workflowId: string, active: boolean) =>
  client.write<WorkflowBody>({
    method: 'PUT',
    route: '/v1/workflows/{workflowId}/status',
    params: { workflowId },
    body: { active },
    expect: 'record',
  });
