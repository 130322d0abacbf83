import { createTestGateway, type TestGateway } from 'notigraph/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createStatusLoader } from './workflow-status.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({
    records: { workflows: [{ identifier: 'payment-failed', name: 'Payment failed' }] },
  });
});

afterEach(() => gateway.reset());
afterAll(() => gateway.close());

it('shows the last known status while the service fails', async () => {
  const load = createStatusLoader(gateway.client);
  expect(await load('payment-failed')).toEqual({ name: 'Payment failed', active: true, isStale: false });

  using outage = gateway.fail('GET /v1/workflows/{id}', 503);
  expect(await load('payment-failed')).toEqual({ name: 'Payment failed', active: true, isStale: true });

  outage.recover();
  expect(await load('payment-failed')).toMatchObject({ isStale: false });
});

it('reports the failure if no status is known', async () => {
  gateway.fail('GET /v1/workflows/{id}', 'timeout', { params: { id: 'payment-failed' } });
  await expect(createStatusLoader(gateway.client)('payment-failed')).rejects.toThrow('did not respond in time');
});

it('makes two calls for a status: the document also selects the group', async () => {
  await createStatusLoader(gateway.client)('payment-failed');
  expect(gateway.calls.map(({ endpoint }) => endpoint)).toEqual([
    'GET /v1/workflows/{workflowIdOrIdentifier}',
    'GET /v1/notification-groups/{id}',
  ]);
});
