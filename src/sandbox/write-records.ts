import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import type { Records } from './records/records.ts';
import { type FindRecord, type ReferredKind, toRecordRows } from './records/to-record-rows.ts';
import type { Resource } from './resource.ts';
import { text } from './rows.ts';

/** Queries that find a record by its id or name. */
const QUERIES: Readonly<Record<ReferredKind, string>> = {
  group: 'SELECT id FROM notification_groups WHERE environment_id = :environment AND :key IN (id, name)',
  feed: 'SELECT id FROM feeds WHERE environment_id = :environment AND :key IN (id, name)',
  workflow: 'SELECT id FROM workflows WHERE environment_id = :environment AND :key IN (id, identifier)',
};

/** Writes records of one environment. @throws {TypeError} if one can't be written; then none is */
export function writeRecords(
  database: SandboxDatabase,
  resources: readonly Resource[],
  records: Records,
  environment: Environment,
  now: Date,
): void {
  const find: FindRecord = (kind, key) => {
    const row = database.prepare(QUERIES[kind]).get({ environment: environment.id, key });
    return row && text(row, 'id');
  };
  const rows = toRecordRows(records, environment, now, find);
  try {
    database.transaction(() => {
      for (const resource of resources) {
        resource.writeRecords?.(database, rows);
      }
    });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('UNIQUE constraint failed')) {
      const column = error.message.slice(error.message.lastIndexOf(' ') + 1); // The last one; others are of the environment.
      throw new TypeError(`A record with the same ${column.split('.').at(-1)} already exists (${column}).`, {
        cause: error,
      });
    }
    throw error;
  }
}
