// Endpoints of messages.

import { ApiError } from '../errors.ts';
import { sampleId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { emptyResponse } from '../response.ts';
import { optionalText, text } from '../rows.ts';
import { createNotificationWriter } from './stats.ts';

/** Channels of a notification's messages that are not deleted. The column is null while none is, so that there is nothing to write before. */
const REMAINING = 'coalesce(notifications.message_channels, notifications.channels)';

/** Messages: one per notification and channel. */
export const resource: Resource = {
  writeRecords(database, { messages = [] }, { environment, now }) {
    const write = createNotificationWriter(database);
    for (const { transactionId, channels = ['email'] as const, workflow, subscriberId } of messages) {
      write(environment, {
        id: sampleId(environment, 'notification', transactionId, ...channels),
        workflowId: workflow === undefined ? '' : sampleId(environment, 'workflow', workflow),
        subscriberId: subscriberId === undefined ? '' : sampleId(environment, 'subscriber', subscriberId),
        transactionId,
        channels,
        createdAt: now,
      });
    }
  },

  recordList: {
    title: 'Transactions with messages',
    // The sample transactions are the first ones.
    sql: `
      SELECT transaction_id AS id, group_concat(channel.value, ', ') AS label
      FROM notifications JOIN json_each(${REMAINING}) AS channel
      WHERE environment_id = ?
      GROUP BY transaction_id
      ORDER BY min(notifications.rowid)
      LIMIT 100
    `,
  },

  createHandlers(database, _clock, topUp) {
    const remove = database.prepare(`
      UPDATE notifications SET message_channels = (
        SELECT json_group_array(value) FROM json_each(${REMAINING}) WHERE value <> :channel
      )
      WHERE environment_id = :environment AND transaction_id = :transaction
        AND EXISTS (SELECT 1 FROM json_each(${REMAINING}) WHERE :channel IS NULL OR value = :channel)
    `);
    return {
      /** Deletes the messages of a transaction. Statistics don't change: they count the notifications that were sent. */
      deleteMessagesByTransaction({ environment, params, query }) {
        topUp();
        const transaction = text(params, 'transactionId');
        const channel = optionalText(query, 'channel');
        if (remove.run({ environment: environment.id, transaction, channel }).changes === 0) {
          const kind = channel === null ? 'messages' : `${channel} messages`;
          throw new ApiError(404, `This environment has no ${kind} of the transaction "${transaction}".`);
        }
        return emptyResponse();
      },
    };
  },
};
