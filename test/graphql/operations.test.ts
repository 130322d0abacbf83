import { expect, it } from 'vitest';
import { loadOperations } from '../../src/graphql/documents/shipped-operations.ts';
import { startSandboxedGateway } from '../support/gateway.ts';

/** The upstream requests that each shipped operation costs with its example variables. */
const COST: Record<string, string[]> = {
  NotificationGroups: ['GET /v1/notification-groups'],
  Workflow: ['GET /v1/workflows/welcome-onboarding', 'GET /v1/notification-groups/2c490ff384e74bd82a99effb'],
  Workflows: [
    'GET /v1/workflows/comment-mention',
    'GET /v1/workflows/payment-failed',
    'GET /v1/workflows/weekly-digest',
    'GET /v1/notification-groups',
  ],
  NotificationGroup: ['GET /v1/notification-groups/2c490ff384e74bd82a99effb'],
  UpdateWorkflowStatus: ['PUT /v1/workflows/9e1e02437234c8472228388e/status'],
  CreateSubscriber: ['POST /v1/subscribers'],
  CreateSubscribers: ['POST /v1/subscribers', 'POST /v1/subscribers'],
  CreateNotificationGroup: ['POST /v1/notification-groups'],
  UpdateNotificationGroup: ['PATCH /v1/notification-groups/3aae881164b2f8b6e5f5b00f'],
  DeleteNotificationGroup: ['DELETE /v1/notification-groups/f6004fff107f93f77fe713f5'],
  CreateFeed: ['POST /v1/feeds'],
  DeleteFeed: ['DELETE /v1/feeds/dd054ce4b915de3a0ca2e0e3'],
  DeleteMessagesByTransaction: ['DELETE /v1/messages/transaction/sample-transaction-0001?channel=email'],
};

it.each(loadOperations())('the shipped operation $name succeeds on the sandbox with its example', async (operation) => {
  await using gateway = await startSandboxedGateway();

  const data = await gateway.data(operation.query, JSON.parse(operation.variables ?? '{}'));

  expect(JSON.stringify(data)).not.toContain('"message"'); // No failure of a result union.
  expect(Object.values(data)).not.toContain(null);
  const cost = gateway.upstream().map(({ method, path }) => `${method} ${path}`);
  if (operation.name === 'NotificationStats') {
    const workflows = cost.filter((request) => request.startsWith('GET /v1/workflows/'));
    expect(cost[0]).toBe('GET /v1/notifications/graph/stats?days=30');
    expect(new Set(workflows).size).toBe(cost.length - 1);
  } else {
    expect(cost.toSorted()).toEqual(COST[operation.name]?.toSorted());
  }
});

it('every operation is named like its file and has an example', () => {
  const operations = loadOperations();
  expect(operations).toHaveLength(14);
  for (const { name, query } of operations) {
    expect(query).toMatch(new RegExp(`^(query|mutation) ${name}\\b`, 'm'));
    expect([...Object.keys(COST), 'NotificationStats']).toContain(name);
  }
});
