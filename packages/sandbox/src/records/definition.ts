import { createHash } from 'node:crypto';

import type { Environment } from '../environments.ts';
import type { Channel, Records, SubscriberRecord, TransactionRecord, WorkflowRecord } from './records.ts';

/** The sample records of one environment, without ids. */
export interface SampleEnvironment extends Omit<Records, 'statistics'> {
  environment: Environment;
  workflows: readonly SampleWorkflow[];
  /** A deleted workflow. Only older statistics contain its id. */
  retired: { identifier: string; traffic: SampleTrafficPlan };
  subscribers: readonly SubscriberRecord[];
  messages: readonly SampleTransaction[];
}

/** Workflow with its share of the notifications. Without `traffic`, it is never triggered. */
export interface SampleWorkflow extends WorkflowRecord {
  traffic?: SampleTrafficPlan;
}

/** Number of notifications per day, and the sets of channels they are sent over. */
export interface SampleTrafficPlan {
  weekday: number;
  weekend: number;
  /** Days of the week with notifications; 0 is Sunday. @default every day */
  weekDays?: readonly number[];
  routes: readonly (readonly Channel[])[];
}

/** A transaction with a fixed id, for examples. */
export interface SampleTransaction extends TransactionRecord {
  workflow: string;
  subscriberId: string;
  channels: readonly Channel[];
}

/** Returns the id of a sample record. It is the same in every file, and different in each environment. */
export function sampleId(environment: Environment, kind: string, ...path: (string | number)[]): string {
  return createHash('sha256')
    .update([environment.name, kind, ...path].join('/'))
    .digest('hex')
    .slice(0, 24);
}
