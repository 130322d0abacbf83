import type { StatementSync } from 'node:sqlite';

import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';

/** Messages sent over the channels. */
export class Messages {
  readonly #findTransaction: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: SandboxDatabase) {
    this.#findTransaction = database.prepare(
      'SELECT 1 FROM messages WHERE environment_id = ? AND transaction_id = ? LIMIT 1',
    );
    this.#delete = database.prepare(`
      DELETE FROM messages
      WHERE environment_id = :environment AND transaction_id = :transaction AND (:channel IS NULL OR channel = :channel)
    `);
  }

  /** The statistics stay as they are: they count what was sent. */
  deleteByTransaction(environment: Environment, transactionId: string, channel: string | null): void {
    if (this.#findTransaction.get(environment.id, transactionId) === undefined) {
      throw new ApiError(404, `There are no messages of the transaction "${transactionId}" in this environment.`);
    }
    this.#delete.run({ environment: environment.id, transaction: transactionId, channel });
  }
}
