import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { alignByKey } from '../../src/graphql/calls/operation-loaders.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';

guards('src/modules/toolkit/resolvers.ts', 'runAsMutation');

const WORKFLOWS = ['welcome-onboarding', 'comment-mention', 'weekly-digest', 'payment-failed', 'order-shipped'];
const LIFECYCLE = '2c490ff384e74bd82a99effb';
const BILLING = 'f9a638eb4c157ffb8449de70';

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: 'sandbox' });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.forget());

it('loads a workflow once, even if several fields refer to it', async () => {
  const data = await gateway.data(`{
    one: workflow(idOrIdentifier: "weekly-digest") { name }
    again: workflow(idOrIdentifier: "weekly-digest") { id }
    many: workflows(idsOrIdentifiers: ["weekly-digest", "weekly-digest"]) { name }
  }`);
  expect(data).toMatchObject({ one: { name: expect.any(String) }, many: [data.one, data.one] });
  expect(gateway.upstream()).toHaveLength(1);
});

it('loads 20 workflows with their groups in 21 upstream requests', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `w${i}`);
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: path.startsWith('/v1/workflows/')
        ? { data: workflow({ _id: path.slice(14), _notificationGroupId: `g${Number(path.slice(15)) % 7}` }) }
        : { data: Array.from({ length: 7 }, (_, i) => group({ _id: `g${i}`, name: `Group ${i}` })) },
    }),
  });
  const { workflows } = await gateway.data<{ workflows: { id: string; notificationGroup: { name: string } }[] }>(
    'query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id notificationGroup { name } } }',
    { ids },
  );
  expect(workflows).toEqual(ids.map((id, i) => ({ id, notificationGroup: { name: `Group ${i % 7}` } })));
  expect(gateway.service.requests).toHaveLength(21);
});

it('loads at most 8 workflows concurrently', async () => {
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: { data: workflow({ _id: path.slice(14) }) },
    }),
  });
  const { service } = gateway;
  await gateway.accept();
  const ids = Array.from({ length: 30 }, (_, i) => `w${i}`);
  const held = ids.map((id) => service.hold(`GET /v1/workflows/${id}`));
  const answer = gateway.data('query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id } }', { ids });
  await service.arrived(8);
  await gateway.data('{ workflow(idOrIdentifier: "probe") { id } }'); // A ninth call would have been sent before this one.
  expect(service.requests).toHaveLength(9);
  for (const { release } of held) {
    release();
  }
  expect((await answer).workflows).toHaveLength(30);
});

it('loads the statistics of 30 days in one request, plus one for each distinct workflow', async () => {
  const { notificationStats } = await gateway.data<{
    notificationStats: { workflowIds: string[]; workflows: { id: string }[] }[];
  }>('{ notificationStats(days: 30) { workflowIds workflows { id } } }');
  const distinct = new Set(notificationStats.flatMap(({ workflowIds }) => workflowIds));
  expect(notificationStats).toHaveLength(30);
  expect(notificationStats[0]?.workflows.map(({ id }) => id)).toEqual(notificationStats[0]?.workflowIds);
  expect(distinct.size).toBeGreaterThan(3);
  expect(gateway.upstream()).toHaveLength(1 + distinct.size);
});

it('loads a single group by its id, and two or more with one list request', async () => {
  const one = `a: notificationGroup(id: "${LIFECYCLE}") { name }`;
  await gateway.data(`{ ${one} again: notificationGroup(id: "${LIFECYCLE}") { id } }`);
  expect(gateway.upstream().map(({ path }) => path)).toEqual([`/v1/notification-groups/${LIFECYCLE}`]);

  gateway.forget();
  const data = await gateway.data(
    `{ ${one} b: notificationGroup(id: "${BILLING}") { name } gone: notificationGroup(id: "65f000000000000000000999") { name } }`,
  );
  expect(data).toEqual({ a: { name: 'Lifecycle' }, b: { name: 'Billing' }, gone: null });
  expect(gateway.upstream().map(({ path }) => path)).toEqual(['/v1/notification-groups']);
});

it('takes a single group from the list if the operation also selects the list, in either order', async () => {
  const all = 'notificationGroups { name }';
  const one = `notificationGroup(id: "${BILLING}") { name }`;
  for (const query of [`{ ${all} ${one} }`, `{ ${one} ${all} }`]) {
    gateway.forget();
    expect(await gateway.data(query)).toMatchObject({ notificationGroup: { name: 'Billing' } });
    expect(gateway.upstream()).toHaveLength(1);
  }
});

it('loads the groups of workflows and of the root field with one list request', async () => {
  await gateway.data(
    'query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { notificationGroup { name } } notificationGroups { name } }',
    { ids: WORKFLOWS },
  );
  expect(gateway.upstream('GET /v1/notification-groups')).toHaveLength(1);
});

it('uses an embedded group without another request', async () => {
  const { _id, ...anonymous } = group({ name: 'Embedded' });
  await using gateway = await startGateway({
    service: () => ({
      body: { data: workflow({ _notificationGroupId: 'g1', notificationGroup: anonymous }) },
    }),
  });
  const data = await gateway.data('{ workflow(idOrIdentifier: "w1") { notificationGroup { id name } } }');
  expect(data).toEqual({ workflow: { notificationGroup: { id: 'g1', name: 'Embedded' } } });
  expect(gateway.service.requests).toHaveLength(1);
});

it('waits for nothing if all groups are in the list, and another one there has no id', async () => {
  const { _id, ...withoutId } = group({ _id: 'c' });
  const list = [group({ _id: 'a', name: 'A' }), group({ _id: 'b', name: 'B' }), withoutId];
  await using gateway = await startGateway({ service: () => ({ body: { data: list } }) });
  expect(
    await gateway.data('{ a: notificationGroup(id: "a") { name } b: notificationGroup(id: "b") { name } }'),
  ).toEqual({
    a: { name: 'A' },
    b: { name: 'B' },
  });
  expect(gateway.service.calls()).toEqual(['GET /v1/notification-groups']);
});

it('loads groups by id if the list has no ids', async () => {
  await using gateway = await startGateway({
    service: ({ path }) => {
      const { _id, ...anonymous } = group();
      return path === '/v1/notification-groups'
        ? { body: [anonymous] }
        : path.endsWith('/g2')
          ? { status: 404, body: { statusCode: 404 } }
          : { body: anonymous };
    },
  });
  const data = await gateway.data('{ a: notificationGroup(id: "g1") { id } b: notificationGroup(id: "g2") { id } }');
  expect(data).toEqual({ a: { id: 'g1' }, b: null });
});

it('finds groups in the list if the service sends integers as ids', async () => {
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: path.startsWith('/v1/workflows/')
        ? { data: { ...workflow(), _notificationGroupId: 1 } }
        : {
            data: [
              { ...group({ name: 'One' }), _id: 1 },
              { ...group({ name: 'Two' }), _id: 2 },
            ],
          },
    }),
  });
  const data = await gateway.data(`{
    one: notificationGroup(id: "1") { id name }
    two: notificationGroup(id: "2") { id name }
    workflow(idOrIdentifier: "w1") { notificationGroupId notificationGroup { id name } }
  }`);
  expect(data).toEqual({
    one: { id: '1', name: 'One' },
    two: { id: '2', name: 'Two' },
    workflow: { notificationGroupId: '1', notificationGroup: { id: '1', name: 'One' } },
  });
});

it('finds the rows of any keys, even if rows are shuffled, missing, duplicate or without a key', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', 'constructor');
  const row = fc.record({ id: fc.option(key, { nil: undefined }), value: fc.integer() });
  fc.assert(
    fc.property(fc.array(key), fc.array(row), (keys, rows) => {
      const aligned = alignByKey(keys, rows, ({ id }) => id);
      expect(aligned).toEqual(keys.map((key) => rows.find(({ id }) => id === key) ?? null));
    }),
  );
});

it('reads what the same operation has written', async () => {
  const status = (active: boolean) =>
    `updateWorkflowStatus(input: { workflowId: "1106e4d657eb82ffb25bf536", active: ${active} }) {
      ... on UpdateWorkflowStatusSuccess { changed workflow { active notificationGroup { name } } } }`;
  const data = await gateway.data(`mutation {
    before: ${status(false)}
    rename: updateNotificationGroup(input: { id: "${LIFECYCLE}", name: "Renamed" }) { __typename }
    after: ${status(true)}
    delete: deleteNotificationGroup(input: { id: "${LIFECYCLE}" }) { __typename }
    last: ${status(false)}
  }`);
  expect(data).toMatchObject({
    before: { changed: true, workflow: { active: false, notificationGroup: { name: 'Lifecycle' } } },
    after: { changed: true, workflow: { active: true, notificationGroup: { name: 'Renamed' } } },
    last: { changed: true, workflow: { active: false, notificationGroup: null } },
  });
  expect(gateway.upstream('GET /v1/notification-groups')).toHaveLength(3); // Each field of a mutation reads again.
});

it('caches nothing between operations', async () => {
  const query = '{ workflow(idOrIdentifier: "weekly-digest") { name } }';
  await gateway.data(query);
  await gateway.data(query);
  expect(gateway.upstream()).toHaveLength(2);
});
