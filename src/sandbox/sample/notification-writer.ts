import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import type { NotificationRow } from '../records/record-rows.ts';

/** Creates a function that writes a notification, which the statistics count. */
export function createNotificationWriter(
  database: SandboxDatabase,
): (environment: Environment, notification: NotificationRow) => void {
  const insert = database.prepare(`
    INSERT INTO notifications (id, environment_id, workflow_id, subscriber_id, transaction_id, channels, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `);
  return (environment, { id, workflowId, subscriberId, transactionId, channels, createdAt }) => {
    insert.run(id, environment.id, workflowId, subscriberId, transactionId, JSON.stringify(channels), createdAt);
  };
}
