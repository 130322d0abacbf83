import type { SandboxDatabase } from '../database.ts';
import type { Channel } from './definition.ts';

export interface SampleNotification {
  id: string;
  environmentId: string;
  workflowId: string;
  subscriberId: string;
  transactionId: string;
  channels: readonly Channel[];
  createdAt: string;
}

/** Creates a function that writes a notification, which the statistics count. */
export function createNotificationWriter(database: SandboxDatabase): (notification: SampleNotification) => void {
  const insert = database.prepare(`
    INSERT INTO notifications (id, environment_id, workflow_id, subscriber_id, transaction_id, channels, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `);
  return ({ id, environmentId, workflowId, subscriberId, transactionId, channels, createdAt }) => {
    insert.run(id, environmentId, workflowId, subscriberId, transactionId, JSON.stringify(channels), createdAt);
  };
}
