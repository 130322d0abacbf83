import { type SampleEnvironment, sampleId } from '../records/definition.ts';
import type { RecordRows } from '../records/record-rows.ts';
import { toRecordRows } from '../records/to-record-rows.ts';

/** Returns the sample records of an environment as the resources write them, but no traffic. */
export function toSampleRows(sample: SampleEnvironment, now: Date): RecordRows {
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
