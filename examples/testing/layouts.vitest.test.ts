import { createTestGateway } from 'notigraph/testing';
import { expect, test } from 'vitest';
import layouts from './layouts.ts';

test('batches reads, and deletes', async () => {
  const all = ['a', 'b', 'c'].map((id) => ({ _id: id, name: `Layout ${id}`, _workflowId: 'payment-failed' }));
  await using gateway = await createTestGateway({
    modules: [layouts],
    endpoints: {
      'GET /v1/layouts': () => ({ body: { data: all, hasMore: false } }),
      'DELETE /v1/layouts/{id}': ({ params }) => ({ status: params.id === 'a' ? 204 : 404 }),
    },
  });
  const { data } = await gateway.client.request(
    '{ a: layout(id: "a") { workflow { name } } x: layout(id: "x") { name } }',
  );
  expect(data).toEqual({ a: { workflow: { name: 'Payment failed' } }, x: null });
  const removed = await gateway.client.request('mutation { deleteLayout(input: { id: "b" }) { __typename } }');
  expect(removed.data).toEqual({ deleteLayout: { __typename: 'NotFoundError' } });
  expect(gateway.calls.map(({ endpoint }) => endpoint)).toEqual([
    'GET /v1/layouts',
    'GET /v1/workflows/{workflowIdOrIdentifier}',
    'DELETE /v1/layouts/{id}',
  ]);
});
