import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { operations } from '../support/operations.ts';
import { workflow } from '../support/records.ts';

const { UpdateWorkflowStatus } = operations;

const ID = '1106e4d657eb82ffb25bf536';
const refusal = { status: 400, body: { statusCode: 400, message: 'The status is the same.' } };

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: 'sandbox' });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.forget());

it('returns changed: false if the service rejects the request because the workflow already has that status', async () => {
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

it('returns the rejection if the workflow does not have that status', async () => {
  await using gateway = await startGateway({
    service: ({ method }) => (method === 'PUT' ? refusal : { body: { data: workflow({ active: false }) } }),
  });
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, {
    input: { workflowId: 'w1', active: true },
  });
  expect(updateWorkflowStatus).toEqual({ code: 'INVALID_INPUT', message: 'The status is the same.' });
});

it.each([404, 503])('returns the rejection if reading the workflow fails with %i', async (status) => {
  await using gateway = await startGateway({
    service: ({ method }) => (method === 'PUT' ? refusal : { status, body: {} }),
  });
  const { updateWorkflowStatus } = await gateway.data(UpdateWorkflowStatus, {
    input: { workflowId: 'w1', active: true },
  });
  expect(updateWorkflowStatus).toMatchObject({ code: 'INVALID_INPUT' });
});
