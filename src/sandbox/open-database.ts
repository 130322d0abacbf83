import type { Clock } from './clock.ts';
import { SandboxDatabase } from './database.ts';
import type { Migration } from './database-file.ts';
import { IDEMPOTENCY_MIGRATIONS } from './idempotency.ts';
import { type SampleEnvironment, sampleId } from './records/definition.ts';
import type { RecordRows } from './records/record-rows.ts';
import { toRecordRows } from './records/to-record-rows.ts';
import type { Resource } from './resource.ts';
import { DEVELOPMENT_SAMPLE } from './sample/development.ts';
import { PRODUCTION_SAMPLE } from './sample/production.ts';

/** The sample records of both environments. */
export const SAMPLES: readonly SampleEnvironment[] = [DEVELOPMENT_SAMPLE, PRODUCTION_SAMPLE];

/** Returns the migrations of all tables, ordered by version. */
export function collectMigrations(resources: readonly Resource[]): readonly Migration[] {
  const all = [...IDEMPOTENCY_MIGRATIONS, ...resources.flatMap(({ migrations }) => migrations)];
  return all.toSorted((a, b) => a.version - b.version);
}

/**
 * Opens the database file, creates or upgrades its tables, and adds the samples of resources that are new to the file.
 *
 * @param samples sample records. If empty, resources get none at all
 */
export function openDatabase(
  file: string,
  resources: readonly Resource[],
  clock: Clock,
  samples: readonly SampleEnvironment[] = SAMPLES,
): SandboxDatabase {
  return new SandboxDatabase(file, {
    migrations: collectMigrations(resources),
    onUpgrade(database, from) {
      if (samples.length === 0) {
        return;
      }
      const sampleRows = samples.map((sample) => toSampleRows(sample, clock()));
      for (const { migrations, writeSamples, writeRecords } of resources) {
        if (migrations.every(({ version }) => version > from)) {
          writeSamples?.(database, clock);
          for (const rows of sampleRows) {
            writeRecords?.(database, rows);
          }
        }
      }
    },
  });
}

/** Returns the sample records of an environment as the resources write them, but no traffic. */
function toSampleRows(sample: SampleEnvironment, now: Date): RecordRows {
  const { environment, messages: transactions } = sample;
  const rows = toRecordRows(sample, environment, now);
  const notifications = transactions.map(({ transactionId, workflow, subscriberId, channels }) => ({
    id: sampleId(environment, 'notification', transactionId),
    workflowId: sampleId(environment, 'workflow', workflow),
    subscriberId: sampleId(environment, 'subscriber', subscriberId),
    transactionId,
    channels,
    createdAt: now.toISOString(),
  }));
  return { ...rows, notifications };
}
