import type { StatementSync } from 'node:sqlite';

import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import type { Resource } from '../resource.ts';
import { emptyResponse } from '../response.ts';
import { optionalText, text } from '../rows.ts';

export const resource: Resource = {
  migrations: [
    {
      version: 1,
      description: 'Creates the table of messages.',
      sql: `
        CREATE TABLE messages (
          id TEXT PRIMARY KEY,
          environment_id TEXT NOT NULL,
          notification_id TEXT NOT NULL,
          workflow_id TEXT NOT NULL,
          subscriber_id TEXT NOT NULL,
          transaction_id TEXT NOT NULL,
          channel TEXT NOT NULL,
          created_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX messages_by_transaction ON messages (environment_id, transaction_id);
      `,
    },
  ],

  writeRecords(database, { environment, messages }) {
    const insert = database.prepare(`
      INSERT INTO messages (id, environment_id, notification_id, workflow_id, subscriber_id, transaction_id, channel, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    `);
    for (const { id, notificationId, workflowId, subscriberId, transactionId, channel, createdAt } of messages) {
      insert.run(id, environment.id, notificationId, workflowId, subscriberId, transactionId, channel, createdAt);
    }
  },

  recordList: {
    title: 'Transactions with messages',
    sql: `
      SELECT transaction_id AS id, group_concat(channel, ', ') AS label
      FROM messages
      WHERE environment_id = ?
      GROUP BY transaction_id
      ORDER BY transaction_id
      LIMIT 100
    `,
  },

  createHandlers(database) {
    const messages = new Messages(database);
    return {
      deleteMessagesByTransaction({ environment, params, query }) {
        messages.deleteByTransaction(environment, text(params, 'transactionId'), optionalText(query, 'channel'));
        return emptyResponse();
      },
    };
  },
};

/** Messages sent over the channels. */
class Messages {
  readonly #delete: StatementSync;

  constructor(database: SandboxDatabase) {
    this.#delete = database.prepare(`
      DELETE FROM messages
      WHERE environment_id = :environment AND transaction_id = :transaction AND (:channel IS NULL OR channel = :channel)
    `);
  }

  /** Deletes the messages of a transaction. Statistics don't change: they count what was sent. */
  deleteByTransaction(environment: Environment, transactionId: string, channel: string | null): void {
    const { changes } = this.#delete.run({ environment: environment.id, transaction: transactionId, channel });
    if (changes === 0) {
      const kind = channel === null ? 'messages' : `${channel} messages`;
      throw new ApiError(404, `This environment has no ${kind} of the transaction "${transactionId}".`);
    }
  }
}
