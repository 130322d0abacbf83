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

/** Creates a function that writes a notification and one message per channel. */
export function createTrafficWriter(database: SandboxDatabase): (notification: SampleNotification) => void {
  const insertNotification = database.prepare(`
    INSERT INTO notifications (id, environment_id, workflow_id, subscriber_id, transaction_id, channels, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `);
  const insertMessage = database.prepare(`
    INSERT INTO messages (id, environment_id, notification_id, workflow_id, subscriber_id, transaction_id, channel, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  `);

  return ({ id, environmentId, workflowId, subscriberId, transactionId, channels, createdAt }) => {
    insertNotification.run(
      id,
      environmentId,
      workflowId,
      subscriberId,
      transactionId,
      JSON.stringify(channels),
      createdAt,
    );
    channels.forEach((channel, index) => {
      const messageId = `${id.slice(0, -1)}${index + 1}`;
      insertMessage.run(messageId, environmentId, id, workflowId, subscriberId, transactionId, channel, createdAt);
    });
  };
}
