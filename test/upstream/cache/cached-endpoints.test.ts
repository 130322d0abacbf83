import { expect, it } from 'vitest';
import { READ_WORKFLOW, startCachedGateway } from '../../support/cached-gateway.ts';

const READS = {
  'GET /v1/workflows/W1': '{ workflow(idOrIdentifier: "W1") { name } }',
  'GET /v1/workflows/welcome': READ_WORKFLOW,
  'GET /v1/notification-groups': '{ notificationGroups { name } }',
  'GET /v1/notification-groups/g1': '{ notificationGroup(id: "g1") { name } }',
  'GET /v1/notification-groups/g2': '{ notificationGroup(id: "g2") { name } }',
  'GET /v1/notifications/graph/stats': '{ notificationStats { count } }',
  'GET /v1/notifications/graph/stats?days=7': '{ notificationStats(days: 7) { count } }',
} as const;

const ALL = Object.keys(READS);
const WORKFLOWS = ALL.slice(0, 5);
const STATISTICS = ALL.slice(5);

/** Writes, and the reads that each one empties. */
const WRITES: readonly [mutation: string, changes: readonly string[]][] = [
  ['createNotificationGroup(input: { name: "New" })', WORKFLOWS],
  ['updateNotificationGroup(input: { id: "G1", name: "New" })', WORKFLOWS],
  ['deleteNotificationGroup(input: { id: "G1" })', WORKFLOWS],
  ['updateWorkflowStatus(input: { workflowId: "w1", active: true })', WORKFLOWS],
  ['deleteMessagesByTransaction(input: { transactionId: "t1" })', STATISTICS],
  ['createSubscriber(input: { subscriberId: "s1" })', []],
  ['createFeed(input: { name: "News" })', []],
  ['deleteFeed(input: { id: "f1" })', []],
];

it('reads are cached, and each write empties exactly the kinds that its line says', async () => {
  await using cached = await startCachedGateway();
  const readAll = async () => {
    cached.service.forget();
    for (const document of Object.values(READS)) {
      await cached.run(document);
    }
    return cached.service.calls();
  };
  expect(await readAll()).toEqual(ALL);
  expect(await readAll()).toEqual([]);
  for (const [mutation, changes] of WRITES) {
    const result = await cached.run(`mutation { result: ${mutation} { __typename } }`);
    expect(result, mutation).toEqual({ result: { __typename: expect.stringContaining('Success') } });
    expect(await readAll(), mutation).toEqual(changes);
  }
});
