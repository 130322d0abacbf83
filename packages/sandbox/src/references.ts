// Finds the records that others refer to by id or name.

import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { text } from './rows.ts';

/** Queries with the parameters environment and id or name. Of several records with a name, the latest is meant. */
const QUERIES = {
  'notification group':
    'SELECT id FROM notification_groups WHERE environment_id = ? AND ? IN (id, name) ORDER BY rowid DESC',
  feed: 'SELECT id FROM feeds WHERE environment_id = ? AND ? IN (id, name) ORDER BY rowid DESC',
  subscriber: 'SELECT id FROM subscribers WHERE environment_id = ? AND ? IN (id, subscriber_id) ORDER BY rowid DESC',
  workflow: 'SELECT id FROM workflows WHERE environment_id = ? AND ? IN (id, identifier) ORDER BY rowid DESC',
};

/**
 * Returns the id of a record.
 *
 * @param user the record that refers to it, for the error
 * @throws {TypeError} if there is none
 */
export function findId(
  database: SandboxDatabase,
  environment: Environment,
  kind: keyof typeof QUERIES,
  idOrName: string,
  user: string,
): string {
  const row = database.prepare(QUERIES[kind]).get(environment.id, idOrName);
  if (row === undefined) {
    throw new TypeError(`${user} refers to the ${kind} "${idOrName}", which doesn't exist. Add it to the records.`);
  }
  return text(row, 'id');
}
