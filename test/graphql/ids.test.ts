import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { REFUSED_IDS } from '../support/field-contract.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';

guards('src/graphql/sent-values.ts', 'loadBySentId');
guards('src/upstream/transport/path.ts', 'findIdProblem');

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({
    service: ({ path }) => ({
      body: { data: path.includes('/workflows/') ? workflow() : group() },
    }),
  });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.service.forget());

/** Operations that put an id into a path, with the parts of the path before and after it. */
const USES = [
  { document: 'query ($id: ID!) { workflows(idsOrIdentifiers: [$id]) { id } }', before: '/v1/workflows/', after: '' },
  { document: 'query ($id: ID!) { notificationGroup(id: $id) { id } }', before: '/v1/notification-groups/', after: '' },
  {
    document: 'mutation ($id: ID!) { updateWorkflowStatus(input: { workflowId: $id, active: true }) { __typename } }',
    before: '/v1/workflows/',
    after: '/status',
  },
];

/** Ids that no path can have. That every field rejects them is tested in `test/modules/contract.test.ts`. */
const REFUSED = Object.entries(REFUSED_IDS);

it.each(REFUSED)('%s is rejected in a list of ids before any upstream call', async (_, id) => {
  const { body, codes } = await gateway.send('query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id } }', {
    ids: [id],
  });
  expect([body.data, codes]).toEqual([{ workflows: [null] }, ['BAD_USER_INPUT']]);
  expect(gateway.service.requests).toEqual([]);
});

it('an invalid id is rejected even if one list request would serve all ids', async () => {
  const { body } = await gateway.send(
    '{ a: notificationGroup(id: "g1") { id } b: notificationGroup(id: "..") { id } }',
  );
  expect(body.data).toMatchObject({ a: { id: 'g1' }, b: null });
  expect(body.errors).toMatchObject([{ path: ['b'], extensions: { code: 'BAD_USER_INPUT' } }]);
});

it.each(REFUSED.filter((_, i) => i % 4 === 0))(
  '%s that the service sent is its mistake, and fails only the record with that id',
  async (_, id) => {
    await using other = await startGateway({
      service: ({ path }) => ({
        body: path.includes('/stats')
          ? [{ _id: '2026-01-02', count: 1, templates: [id, 'w1'], channels: [] }]
          : { data: workflow({ _notificationGroupId: id }) },
      }),
    });
    const { body } = await other.send('{ notificationStats { workflows { name notificationGroup { id } } } }');
    expect(body.data).toEqual({
      notificationStats: [{ workflows: [null, { name: 'Workflow', notificationGroup: null }] }],
    });
    const extensions = { code: 'UPSTREAM_BAD_RESPONSE', retryable: false };
    expect(body.errors).toMatchObject([
      {
        path: ['notificationStats', 0, 'workflows', 0],
        message: 'The notification service sent an invalid id.',
        extensions,
      },
      { path: ['notificationStats', 0, 'workflows', 1, 'notificationGroup'], extensions },
    ]);
    expect(other.service.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      '/v1/notifications/graph/stats',
      '/v1/workflows/w1',
    ]);
  },
);

it('any id is either rejected or arrives unchanged as one segment', async () => {
  const anyId = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'E', 'f', '?', '#', 'a', '\n'), maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(anyId, fc.constantFrom(...USES), async (id, use) => {
      gateway.service.forget();
      const { status } = await gateway.send(use.document, { id });
      expect(status).toBe(200);
      const [sent] = gateway.service.requests;
      if (sent === undefined) {
        return; // Rejected.
      }
      const { path } = sent;
      const segment = path.slice(use.before.length, path.length - use.after.length);
      expect(decodeURIComponent(segment)).toBe(id);
      expect(segment).not.toMatch(/[/?#\\\s]|^\.{0,2}$/);
      const read = new URL(path, 'http://localhost').pathname;
      expect(read).toBe(path); // Parsing the URL changes no segment.
    }),
    { numRuns: 120 },
  );
});
