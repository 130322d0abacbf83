import { createTestGateway } from 'notigraph/testing';
import { expect, test } from 'vitest';
import layouts from './layouts.ts';

test('several layouts are one call', async () => {
  const all = ['a', 'b', 'c'].map((id) => ({ _id: id, name: `Layout ${id}` }));
  await using gateway = await createTestGateway({
    modules: [layouts],
    endpoints: { 'GET /v1/layouts': () => ({ body: { data: all } }) },
  });
  const { data } = await gateway.client.request('{ a: layout(id: "a") { name } b: layout(id: "x") { name } }');
  expect(data).toEqual({ a: { name: 'Layout a' }, b: null });
  expect(gateway.calls.map(({ endpoint }) => endpoint)).toEqual(['GET /v1/layouts']);
});
