import { expect, it } from 'vitest';
import { startGateway, startSandboxedGateway } from '../support/gateway.ts';
import { UpdateWorkflowStatus } from '../support/operations.gen.ts';
import { workflow } from '../support/records.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const ID = '1106e4d657eb82ffb25bf536';
const refusal = { status: 400, body: { statusCode: 400, message: 'The status is the same.' } };

it('answers changed: false where the service refuses because the workflow already is in that state', async () => {
  await using gateway = await startSandboxedGateway();
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, {
    input: { workflowId: ID, active: true },
  });
  expect(updateWorkflowStatus).toEqual({
    changed: false,
    workflow: { id: ID, name: 'Welcome and onboarding', active: true },
  });
  expect(gateway.upstream().map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    `PUT /v1/workflows/${ID}/status 400`,
    `GET /v1/workflows/${ID} 200`,
  ]);
});

it('keeps another refusal, when the workflow is not in that state', async () => {
  await using upstream = await startScriptedUpstream(({ method }) =>
    method === 'PUT' ? refusal : { body: { data: workflow({ active: false }) } },
  );
  await using gateway = await startGateway({ upstream: upstream.url });
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, {
    input: { workflowId: 'w1', active: true },
  });
  expect(updateWorkflowStatus).toEqual({ code: 'INVALID_INPUT', message: 'The status is the same.' });
});

it.each([404, 503])('keeps the refusal when looking at the workflow answers %i', async (status) => {
  await using upstream = await startScriptedUpstream(({ method }) =>
    method === 'PUT' ? refusal : { status, body: {} },
  );
  await using gateway = await startGateway({ upstream: upstream.url });
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, {
    input: { workflowId: 'w1', active: true },
  });
  expect(updateWorkflowStatus).toMatchObject({ code: 'INVALID_INPUT' });
});

it('takes the id only: a trigger identifier is not found', async () => {
  await using gateway = await startSandboxedGateway();
  const input = { workflowId: 'welcome-onboarding', active: false };
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, { input });
  expect(updateWorkflowStatus).toMatchObject({ code: 'NOT_FOUND' });
});
