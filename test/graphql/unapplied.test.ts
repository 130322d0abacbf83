// Mutations whose response shows what was sent: what came back otherwise is no plain success.

import { expect, it } from 'vitest';
import topics from '../../src/modules/shipped/topics.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';

guards('src/upstream/transport/exchange.ts', 'findUnapplied');

const RECORD = {
  _id: '65f000000000000000000001',
  _environmentId: 'env',
  _organizationId: 'org',
  identifier: 'i',
  key: 'k',
};

it.each([
  ['createFeed', 'name: "New"', { ...RECORD, name: 'Old' }, ['input.name']],
  ['createFeed', 'name: " New "', { ...RECORD, name: 'new' }, []], // Services may trim, and write in lower case.
  ['createFeed', 'name: "New"', RECORD, []], // Not shown.
  ['createNotificationGroup', 'name: "New"', { ...RECORD, name: 'Old' }, ['input.name']],
  ['updateNotificationGroup', `id: "${RECORD._id}", name: "New"`, { ...RECORD, name: 'Old' }, ['input.name']],
  ['renameTopic', 'key: "k", name: "New"', { ...RECORD, name: 'Old' }, ['input.name']],
  ['updateWorkflowStatus', `workflowId: "${RECORD._id}", active: false`, workflow({ active: true }), ['input.active']],
  ['updateWorkflowStatus', `workflowId: "${RECORD._id}", active: true`, workflow({ active: true }), []],
])('%s with %s', async (field, input, record, unapplied) => {
  await using gateway = await startGateway({ service: () => ({ body: { data: record } }), modules: [topics] });
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Success`;
  const { body } = await gateway.send(`mutation { ${field}(input: { ${input} }) { ... on ${type} { unapplied } } }`);
  expect(body).toEqual({ data: { [field]: { unapplied } } });
  const results = unapplied.length > 0 ? [`${field}: UNAPPLIED`] : undefined;
  expect(gateway.log.find((line) => line.operation !== undefined || line.calls !== undefined)?.results).toEqual(
    results,
  );
});
