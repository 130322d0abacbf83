import type { Clock } from './clock.ts';
import { SandboxDatabase } from './database.ts';
import { DEVELOPMENT, PRODUCTION } from './environments.ts';
import { IDEMPOTENCY_SCHEMA } from './idempotency.ts';
import { type SampleEnvironment, sampleId } from './records/definition.ts';
import type { RecordRows } from './records/record-rows.ts';
import { toRecordRows } from './records/to-record-rows.ts';
import type { Resource } from './resource.ts';
import development from './sample/development.json' with { type: 'json' };
import production from './sample/production.json' with { type: 'json' };

/**
 * The sample records of both environments: those of Juniper, a fictional marketplace for crafts. No name occurs in both, so that tests notice records of
 * the wrong one. Types of JSON files have no literals, such as names of channels: tests compare the records with the contract.
 */
export const SAMPLES = [
  { environment: DEVELOPMENT, ...development },
  { environment: PRODUCTION, ...production },
] as readonly SampleEnvironment[];

/** Returns the statements that create all tables, sorted, because files of another order would be refused like those of another version. */
export const schemaOf = (resources: readonly Resource[]): string =>
  [IDEMPOTENCY_SCHEMA, ...resources.map(({ schema = '' }) => schema).toSorted()].join('');

interface OpenOptions {
  /** Sample records. If empty, resources get none at all. @default those of both environments */
  samples?: readonly SampleEnvironment[];
  /** Whether all records of the file are replaced with the sample records. @default false */
  isReset?: boolean;
}

/** Opens the database file. In a new one, it creates the tables and adds the samples. */
export function openDatabase(
  file: string,
  resources: readonly Resource[],
  clock: Clock,
  { samples = SAMPLES, isReset = false }: OpenOptions = {},
): SandboxDatabase {
  return new SandboxDatabase(file, {
    schema: schemaOf(resources),
    isReset,
    onCreate(database) {
      if (samples.length === 0) {
        return;
      }
      const sampleRows = samples.map((sample) => toSampleRows(sample, clock()));
      for (const { writeSamples, writeRecords } of resources) {
        writeSamples?.(database, clock);
        for (const rows of sampleRows) {
          writeRecords?.(database, rows);
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
