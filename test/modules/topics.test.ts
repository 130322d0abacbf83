// Topics as other endpoints of the service make them: without a name, and with keys that have colons.

import { expect, it } from 'vitest';
import topics from '../../src/modules/shipped/topics.ts';
import { deviationsIn, startGateway } from '../support/gateway.ts';

it('a topic without a name has its key as the name, alone and in the list', async () => {
  const bare = { _id: '65f000000000000000000001', key: 'tenant:42', subscribers: [] };
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: path.includes('?')
        ? { page: 0, pageSize: 10, totalCount: 2, data: [bare, { ...bare, key: 'b', name: 'B' }] }
        : { data: { ...bare, name: null } },
    }),
    modules: [topics],
  });
  const { body } = await gateway.send('{ topic(key: "tenant:42") { key name } topics { topics { key name } } }');
  const named = { key: 'tenant:42', name: 'tenant:42' };
  expect(body).toEqual({ data: { topic: named, topics: { topics: [named, { key: 'b', name: 'B' }] } } });
  expect(deviationsIn(gateway.log)).toEqual([]);
});
